/** The server's process: arguments, signals, exit codes. 0 done, 2 wrong usage or configuration, 1 fault or a bad result. */
import { encryptionKeysVariable } from '../encryption-keys.ts'
import { wantsJson } from '../json.ts'
import { mostUnread, type Output, type Replies } from '../output.ts'
import { createProgram } from '../server/program.ts'
import type { Running } from '../server/serve/serve.ts'
import { Interrupted } from '../usage.ts'
import { folkmootExit } from './folkmoot-exit.ts'
import { paintOn, resultsOf, tableWidth } from './results.ts'
import { packageVersion } from './version.ts'

const json = wantsJson(process.argv)

const results = resultsOf('folkmoot', json)
const out: Output = {
  line: (text) => results(`${text}\n`),
  warn: (text) => void (process.stderr.writableLength <= mostUnread && process.stderr.write(`${text}\n`)),
  width: tableWidth(),
  paint: paintOn(process.stdout),
  unread: () => process.stdout.writableLength,
}

/** One line of the terminal, written over and over. */
const redraw = (line: string): void => void process.stderr.write(`\r\x1b[K${line}`)

/** Ends a server on SIGTERM, SIGINT and SIGHUP (a closed terminal), once it has started; a second signal ends it immediately. */
function endOnSignal(starting: Promise<Running>): void {
  let ending = false
  const end = () => {
    if (ending) process.exit(1)
    ending = true
    // A start that fails is reported by the command. A part that cannot be closed must not keep the process.
    starting.then((running) => running.close().then(() => process.exit(0), endWith)).catch(() => {})
  }
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, end)
}

/** Keys that are pressed, one at a time; a pipe may bring them, too. */
function keys(pressed: (key: string) => void): () => void {
  const { stdin } = process
  const take = (text: string) => {
    for (const key of text) {
      // The terminal no longer makes a signal of it.
      if (key === '\u0003') process.kill(process.pid, 'SIGINT')
      else pressed(key)
    }
  }
  if (stdin.isTTY) stdin.setRawMode(true)
  stdin
    .setEncoding('utf8')
    .on('data', take)
    .on('error', () => {})
  return () => {
    if (stdin.isTTY) stdin.setRawMode(false)
    stdin.off('data', take).pause()
  }
}

/**
 * A question on standard error, so that results stay apart.
 * @throws Interrupted after Ctrl-C, Ctrl-D or Escape
 */
async function ask(message: string, { choices, problemOf }: Replies = {}): Promise<string> {
  const { isCancel, select, text, updateSettings } = await import('@clack/prompts')
  // Otherwise Ctrl-D would leave the question open for ever.
  updateSettings({ aliases: { '\u0004': 'cancel' } })
  const common = { message, input: process.stdin, output: process.stderr }
  const reply = choices
    ? await select({ ...common, options: choices.map((value) => ({ value })) })
    : await text({ ...common, ...(problemOf ? { validate: problemOf } : {}) })
  if (isCancel(reply)) throw new Interrupted()
  return reply
}

async function exit(error: unknown): Promise<void> {
  const { code, text } = await folkmootExit(error, json, paintOn(process.stderr))
  if (text !== '') process.stderr.write(text)
  process.exitCode = code
}

const endWith = (error: unknown): Promise<void> => exit(error).then(() => process.exit())

// A reader that has gone away is no fault, and must not end a server.
process.stderr.on('error', () => {})
await createProgram({
  out,
  json,
  paintError: paintOn(process.stderr),
  draw: process.stderr.isTTY ? redraw : undefined,
  keys,
  input: () => process.stdin,
  ask: process.stdin.isTTY && process.stderr.isTTY ? ask : undefined,
  failed: () => {
    process.exitCode = 1
  },
  starting: endOnSignal,
  version: packageVersion(),
  encryptionKeys: process.env[encryptionKeysVariable],
})
  .parseAsync()
  .catch(exit)
