/** `npm run bench:import`: how long `folkmoot members import` of the built program takes on SQLite, and how much memory. */
import { spawn } from 'node:child_process'
import { createWriteStream, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import process from 'node:process'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { optionsOf } from './support/options.ts'
import { machine, printReport } from './support/report.ts'

const values = optionsOf('npm run bench:import', 'Measures imports of members from a CSV file into SQLite.', {
  rows: { default: '50000', means: 'rows of the larger file; the smaller one has a fifth' },
  json: { default: '', means: 'a file that gets all figures as JSON' },
})
const most = Number(values.rows)
const program = join(import.meta.dirname, '..', 'dist', 'daemon', 'bin', 'folkmoot.js')
const directory = mkdtempSync(join(tmpdir(), 'folkmoot-bench-import-'))
/** Prints what the process has used, when it ends. */
const usage = `data:text/javascript,process.on('exit', () => console.error('used ' + JSON.stringify(process.resourceUsage())))`

function* lines(rows: number): Generator<string> {
  yield 'email,first_name,last_name,location,commercial_email_consent,last_visited_at\r\n'
  for (let row = 0; row < rows; row++)
    yield `member${row}@example.org,Zoë ${row},"Birch, ${row % 977}",Hamburg,${row % 2 ? 'yes' : 'no'},2025-05-0${1 + (row % 9)}\r\n`
}

interface Usage {
  readonly seconds: number
  readonly processorSeconds: number
  readonly megabytes: number
}

/** @throws Error when the command fails */
async function command(...args: readonly string[]): Promise<Usage> {
  const begun = performance.now()
  const child = spawn(process.execPath, ['--import', usage, program, ...args], { stdio: ['ignore', 'ignore', 'pipe'] })
  let stderr = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
  })
  const code = await new Promise<number | null>((resolve) => child.on('close', resolve))
  const [, used] = /^used (.*)$/m.exec(stderr) ?? []
  if (code !== 0 || used === undefined) throw new Error(`folkmoot ${args.join(' ')} ended with ${code}: ${stderr}`)
  const { userCPUTime, systemCPUTime, maxRSS }: NodeJS.ResourceUsage = JSON.parse(used)
  return {
    seconds: (performance.now() - begun) / 1000,
    processorSeconds: (userCPUTime + systemCPUTime) / 1e6,
    megabytes: maxRSS / 1024,
  }
}

async function importing(rows: number): Promise<readonly (readonly [string, number, Usage])[]> {
  const storage = ['--storage', `sqlite:${join(directory, `${rows}.sqlite`)}`]
  const file = join(directory, `${rows}.csv`)
  const named = ['--subdomain', 'demo', '--title', 'Demo', '--owner-email', 'ada@example.org', '--owner-name', 'Ada Ash']
  await command('networks', 'create', ...named, '--plan', 'unlimited', ...storage)
  await pipeline(Readable.from(lines(rows)), createWriteStream(file))
  const work = () => command('members', 'import', file, '--name', 'All', ...storage)
  const title = rows.toLocaleString('en')
  return [
    [`${title} rows`, rows, await work()],
    [`the same ${title} again`, rows, await work()],
  ]
}

try {
  const found = [...(await importing(most / 5)), ...(await importing(most))]
  const columns = ['', 's', 's of a processor', 'rows per s', 'µs of a processor per row', 'MiB at most']
  const rows = found.map(([title, count, { seconds, processorSeconds, megabytes }]) => [
    title,
    seconds.toFixed(1),
    processorSeconds.toFixed(1),
    (count / seconds).toFixed(0),
    ((processorSeconds / count) * 1e6).toFixed(0),
    megabytes.toFixed(0),
  ])
  const conditions = { ...machine('all processes share them'), storage: 'SQLite' }
  printReport({ conditions, tables: [{ title: '`folkmoot members import`', columns, rows }] }, values.json)
} finally {
  rmSync(directory, { recursive: true, force: true })
}
