/**
 * Runs a program of ours from the checkout: `node scripts/launch.js folkmoot --help`. Plain JavaScript, for any Node: the
 * program runs on the Node of `node_modules`. A signal to npm reaches it, whatever shell stands in between.
 */
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { constants } from 'node:os'
import { fileURLToPath } from 'node:url'

const [program = '', ...args] = process.argv.slice(2)
const fromRoot = (path) => fileURLToPath(new URL(`../${path}`, import.meta.url))

const installed = ['node', 'node.exe'].map((name) => fromRoot(`node_modules/node/bin/${name}`)).find((path) => existsSync(path))
const child = spawn(installed ?? process.execPath, [fromRoot(`daemon/bin/${program}.ts`), ...args], { stdio: 'inherit' })

/** Whether the program has been asked to end. A second signal would end it at once. */
let asked = false
function ask(signal) {
  asked = true
  child.kill(signal)
}

process.on('SIGTERM', () => ask('SIGTERM'))
const onTerminal = [process.stdin, process.stdout, process.stderr].some((stream) => stream.isTTY)
if (onTerminal) {
  // The terminal sends these to the program as well.
  for (const signal of ['SIGINT', 'SIGHUP'])
    process.on(signal, () => {
      asked = true
    })
} else process.on('SIGINT', () => ask('SIGINT'))

// Some shells end on the signal that npm hands them, and hand it to nobody. Debian's `sh` is one.
const parent = process.ppid
const watch = setInterval(() => {
  if (process.ppid === parent) return
  clearInterval(watch)
  if (!asked) ask('SIGTERM')
}, 200)

child.on('error', (error) => {
  process.stderr.write(`${program}: ${error.message}\n`)
  process.exit(1)
})
child.on('exit', (code, signal) => process.exit(code ?? 128 + (constants.signals[signal] ?? 0)))
