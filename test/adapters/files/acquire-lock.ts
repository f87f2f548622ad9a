/**
 * A separate process that tries to hold a path and prints `held` or the refusal: `node x PATH [exit]`. With `exit` it does
 * not stay, although it never releases.
 */
import { writeSync } from 'node:fs'
import { argv } from 'node:process'
import { acquireLock } from '../../../adapters/files/process-lock.ts'

const [, , path = '', mode] = argv
const outcome = await acquireLock(path, 'a test').then(
  () => 'held',
  (error: Error) => error.message,
)
writeSync(1, `${outcome}\n`)
if (mode !== 'exit') setInterval(() => {}, 60_000)
