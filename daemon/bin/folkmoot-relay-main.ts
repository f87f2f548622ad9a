/** The relay's process: arguments, signals, exit codes. 0 done, 2 wrong usage or configuration, 1 fault. */
import process from 'node:process'
import { isatty } from 'node:tty'
import { pino } from 'pino'
import { encryptionKeysVariable } from '../encryption-keys.ts'
import { wantsJson } from '../json.ts'
import { createProgram } from '../relay/operate/commands/program.ts'
import { relayExit } from './folkmoot-relay-exit.ts'
import { paintOn, resultsOf, tableWidth } from './results.ts'
import { packageVersion } from './version.ts'

/** A relay that runs, as opposed to a command whose reader may take its time. */
const isService = process.argv[2] === 'run'
/** Milliseconds without a reader of the log, after which a relay that ends waits no longer. Systemd kills it soon after. */
const patience = 2_000

// Node opens a pipe so that a write never waits for its reader. One that waits would keep the process, whatever it does to end.
if (isService) process.stdout.on('error', () => undefined)

// Not in step with the deliveries: a reader that falls behind loses lines, and never holds a delivery up.
const log = isService ? pino.destination({ dest: 1, sync: false, maxLength: 16 * 1024 * 1024 }) : undefined
// A reader that went away (`| head`) must not end deliveries.
log?.on('error', () => undefined)
process.stderr.on('error', () => undefined)

const json = wantsJson(process.argv)

/** The terminals that it was started with; none of a service, and of `nohup`. */
const terminals = [0, 1, 2].filter((fd) => isatty(fd))

/** A terminal that closes sends SIGHUP too. No one sees then that the relay runs on, so it ends as a server does. */
const unlessTerminalIsGone = (reload: () => void) => (): void => {
  if (terminals.every((fd) => isatty(fd))) reload()
  else process.emit('SIGTERM', 'SIGTERM')
}

try {
  const program = createProgram({
    output: log ?? { write: resultsOf('folkmoot-relay', json) },
    width: tableWidth(),
    paint: paintOn(process.stdout),
    paintError: paintOn(process.stderr),
    json,
    progress(done, of) {
      if (!process.stderr.isTTY || of < 2000) return
      const filled = Math.round((done / of) * 30)
      process.stderr.write(`\r[${'#'.repeat(filled)}${' '.repeat(30 - filled)}] ${done} of ${of}${done < of ? '' : '\n'}`)
    },
    onSignal: (signal, done) => process.on(signal, signal === 'SIGHUP' ? unlessTerminalIsGone(done) : done),
    failed: () => {
      process.exitCode = 1
    },
    serviceManager: {
      socket: process.env['NOTIFY_SOCKET'],
      // Meant for another process when it names one.
      watchdog: [undefined, String(process.pid)].includes(process.env['WATCHDOG_PID'])
        ? Number(process.env['WATCHDOG_USEC'] ?? 0)
        : undefined,
    },
    version: packageVersion(),
    encryptionKeys: process.env[encryptionKeysVariable],
    noProxy: process.env['NO_PROXY'] ?? process.env['no_proxy'],
  })
  await program.parseAsync(process.argv)
} catch (error) {
  const { code, text } = relayExit(error, json, paintOn(process.stderr))
  if (text !== '') process.stderr.write(text)
  process.exitCode = code
} finally {
  if (log) {
    await written(log)
    // Connections to a database that does not respond would keep the process for a while.
    process.exit()
  }
}

/** Waits until the log is written. If its reader has stopped reading, its last lines are left out, and the process ends. */
async function written(output: NonNullable<typeof log>): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(() => {
    // Otherwise pino writes the rest when the process exits, and waits for that.
    output.destroy()
    process.exit()
  }, patience)
  output.on('write', () => timer.refresh())
  output.on('close', resolve)
  output.on('error', () => {
    // On a full disk pino would try again without an end.
    output.destroy()
    resolve()
  })
  output.end()
  await promise
  clearTimeout(timer)
}
