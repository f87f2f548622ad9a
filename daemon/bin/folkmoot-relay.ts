#!/usr/bin/env node
/** The relay's process: arguments, signals, exit codes. 0 done, 2 wrong usage or configuration, 1 fault. */
import process from 'node:process'
import { CommanderError } from 'commander'
import { pino } from 'pino'
import { isStorageError } from '../../lib/storage/contract.ts'
import { createProgram } from '../relay/commands/program.ts'
import { SettingsError } from '../relay/settings.ts'
import { UsageError } from '../usage.ts'

const output = pino.destination({ dest: 1, sync: true })
// A reader that went away (`| head`) must not end deliveries.
output.on('error', () => undefined)

const usage = ['locked', 'newer', 'damaged', 'unavailable']

/** What a person can do something about, as opposed to a fault of ours. */
const isUsage = (error: unknown): error is Error =>
  error instanceof UsageError || error instanceof SettingsError || (isStorageError(error) && usage.includes(error.code))

try {
  const program = createProgram({
    output,
    onSignal: (signal, done) => process.on(signal, done),
    failed: () => {
      process.exitCode = 1
    },
  })
  await program.parseAsync(process.argv)
} catch (error) {
  if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? 0 : 2
  else if (isUsage(error)) {
    process.stderr.write(`folkmoot-relay: ${error.message}\n`)
    process.exitCode = 2
  } else {
    process.stderr.write(`folkmoot-relay: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`)
    process.exitCode = 1
  }
}
