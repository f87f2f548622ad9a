/**
 * Runs a program of ours from the checkout: `node scripts/launch.js folkmoot --help`. Plain JavaScript, for any Node: the
 * program runs on the Node of `node_modules`. A signal to npm reaches it through any shell in between.
 */
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { constants } from 'node:os'
import { fileURLToPath } from 'node:url'

const [program = '', ...args] = process.argv.slice(2)
const fromRoot = (path) => fileURLToPath(new URL(`../${path}`, import.meta.url))

const installed = ['node', 'node.exe'].map((name) => fromRoot(`node_modules/node/bin/${name}`)).find((path) => existsSync(path))
const child = spawn(installed ?? process.execPath, [fromRoot(`daemon/bin/${program}.ts`), ...args], { stdio: 'inherit' })

/** Whether the program has got a signal to shut down. A second one would stop it immediately. */
let signalled = false
function shutDown(signal) {
  signalled = true
  child.kill(signal)
}

process.on('SIGTERM', () => shutDown('SIGTERM'))
const onTerminal = [process.stdin, process.stdout, process.stderr].some((stream) => stream.isTTY)
if (onTerminal) {
  // The terminal sends these to the program as well.
  for (const signal of ['SIGINT', 'SIGHUP'])
    process.on(signal, () => {
      signalled = true
    })
} else process.on('SIGINT', () => shutDown('SIGINT'))

// Some shells exit on the signal that npm sends them, and don't pass it on. Debian's `sh` is one.
const parent = process.ppid
const watch = setInterval(() => {
  if (process.ppid === parent) return
  clearInterval(watch)
  if (!signalled) shutDown('SIGTERM')
}, 200)

child.on('error', (error) => {
  process.stderr.write(`${program}: ${error.message}\n`)
  process.exit(1)
})
child.on('exit', (code, signal) => process.exit(code ?? 128 + (constants.signals[signal] ?? 0)))
