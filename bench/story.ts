/** `npm run bench:story`: what each step takes an admin with 5,000 members, with commands of the built program. */
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { playStory, type RunCommand } from '../test/support/people-story.ts'
import { optionsOf } from './support/options.ts'
import { machine, printReport } from './support/report.ts'

const values = optionsOf(
  'npm run bench:story',
  'Plays the story of an admin with many members, and shows what each step takes.',
  {
    members: { default: '5000', means: 'members of the first file' },
    json: { default: '', means: 'a file that gets all figures as JSON' },
  },
)
const program = join(import.meta.dirname, '..', 'dist', 'daemon', 'bin', 'folkmoot.js')
const directory = mkdtempSync(join(tmpdir(), 'folkmoot-bench-story-'))
const env = { ...process.env, NODE_COMPILE_CACHE: join(directory, 'compiled') }

const run: RunCommand = (...args) =>
  new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [program, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] })
    const ended = { stdout: '', stderr: '' }
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      ended.stdout += text
    })
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      ended.stderr += text
    })
    child.on('error', reject)
    child.on('close', (code) => resolve({ ...ended, code: code ?? -1 }))
  })

try {
  await run('--version')
  const steps = await playStory(directory, Number(values.members), run)
  const rows = steps.map(({ title, milliseconds }) => [title, (milliseconds / 1000).toFixed(2)])
  const conditions = { ...machine('all processes share them'), storage: 'SQLite', members: values.members }
  printReport({ conditions, tables: [{ title: 'Each step is a command', columns: ['', 's'], rows }] }, values.json)
} finally {
  rmSync(directory, { recursive: true, force: true })
}
