/**
 * The one form of `--json` in both programs. A list is one object per line, nothing if it is empty. A single thing is one
 * object, and an error is `{"error": "…"}` on standard error.
 */
import { withoutPassword } from '../lib/base/without-password.ts'
import { type Paint, unpainted } from './output.ts'

/** One object, without its newline. */
export const jsonLine = (record: object): string => unobeyed(JSON.stringify(record))

export const jsonLines = (records: readonly object[]): string => records.map((record) => `${jsonLine(record)}\n`).join('')

/** Characters that a terminal obeys: they move its cursor, change its colours or turn the direction. */
const obeyed = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu

/** The same JSON, of one line, with the characters escaped that a terminal obeys: JSON itself escapes the first 32 alone. */
export const unobeyed = (json: string): string =>
  json.replace(obeyed, (found) => `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`)

/** Why a program ended, for standard error: a sentence for people, an object for programs. */
export const errorLine = (program: string, message: string, json: boolean, paint: Paint = unpainted): string =>
  json ? jsonLines([{ error: message }]) : `${paint('red', `${program}:`)} ${plainLines(message)}\n`

/** Text from outside without what a terminal obeys. */
export const plain = (text: string): string => text.replace(obeyed, '?')

export const plainLines = (text: string): string => text.split('\n').map(plain).join('\n')

/** Whether the command line requests JSON; errors of the command line itself need to know it too. */
export const wantsJson = (args: readonly string[]): boolean => args.includes('--json')

/** The message of commander about a wrong command line, in the requested form. It repeats what was typed. */
export const usageLine = (program: string, text: string, json: boolean, paint?: Paint): string =>
  errorLine(program, withoutPassword(text.trim().replace(/^error: /, '')), json, paint)
