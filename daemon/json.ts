/**
 * The one form of `--json` in both programs. A list is one object per line, nothing if it is empty. A single thing is one
 * object, and an error is `{"error": "…"}` on standard error.
 */

/** One object per line. */
export const jsonLines = (records: readonly object[]): string => records.map((record) => `${JSON.stringify(record)}\n`).join('')

/** Why a program ended, for standard error: a sentence for people, an object for programs. */
export const errorLine = (program: string, message: string, json: boolean): string =>
  json ? jsonLines([{ error: message }]) : `${program}: ${message.split('\n').map(plain).join('\n')}\n`

/** Text from outside without what a terminal obeys: it must not move the cursor, change colours or turn the direction. */
export const plain = (text: string): string => text.replace(/[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu, '?')

/** Whether the command line asks for JSON; errors of the command line itself need to know it too. */
export const wantsJson = (args: readonly string[]): boolean => args.includes('--json')

/** The message of commander about a wrong command line, in the requested form. */
export const usageLine = (program: string, text: string, json: boolean): string =>
  errorLine(program, text.trim().replace(/^error: /, ''), json)
