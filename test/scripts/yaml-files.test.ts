/** The YAML files around the project: they can be read, and what they run is there. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import * as v from 'valibot'
import { expect, test } from 'vitest'
import { parseDocument } from 'yaml'
import { ended } from '../support/program.ts'

const root = join(import.meta.dirname, '..', '..')
const text = (path: string): string => readFileSync(join(root, path), 'utf8')
const Names = v.record(v.string(), v.string())
const { scripts, bin, engines } = v.parse(
  v.object({ scripts: Names, bin: Names, engines: v.object({ node: v.string() }) }),
  JSON.parse(text('package.json')),
)
const files = ['.github', 'deploy'].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.ya?ml$/.test(name) && !name.startsWith('secrets'))
    .map((name) => `${folder}/${name.replaceAll('\\', '/')}`),
)
const read = (path: string): unknown => parseDocument(text(path), { merge: true }).toJS()

test.each(files)('%s is YAML, without a key that comes twice', (path) => {
  const { errors, warnings } = parseDocument(text(path), { merge: true })
  expect([...errors, ...warnings]).toEqual([])
})

const Workflow = v.object({
  jobs: v.record(
    v.string(),
    v.object({ steps: v.array(v.object({ run: v.optional(v.string()), uses: v.optional(v.string()) })) }),
  ),
})
const steps = files
  .filter((path) => path.startsWith('.github/workflows/'))
  .flatMap((path) => Object.values(v.parse(Workflow, read(path)).jobs).flatMap((job) => job.steps))
const lines = steps.flatMap(({ run }) => run?.trim().split('\n') ?? [])

/** What a command of npm or npx names that is not in the checkout. */
function missing(line: string): readonly string[] {
  const [program, ...words] = line.split(' ').filter((word) => word !== '-s')
  const [first = '', second = ''] = words
  if (program === 'npm' && first === 'run') return second in scripts ? [] : [second]
  if (program !== 'npx') return []
  const installed = existsSync(join(root, 'node_modules', '.bin', first)) ? [] : [first]
  const paths = words.filter((word) => /^(?:test|scripts|bench)\//.test(word))
  // Vitest takes the beginning of a path.
  const isThere = (path: string) =>
    existsSync(join(root, dirname(path))) &&
    readdirSync(join(root, dirname(path))).some((name) => name.startsWith(basename(path)))
  return [...installed, ...paths.filter((path) => !isThere(path))]
}

test('the workflows run scripts, programs and tests that are there', () => {
  expect(lines.filter((line) => /^np[mx] /.test(line)).length).toBeGreaterThan(10)
  expect(lines.flatMap(missing)).toEqual([])
})

test('the workflows use actions of GitHub alone, by their major version', () => {
  expect(steps.flatMap(({ uses }) => uses ?? []).filter((uses) => !/^actions\/[\w-]+@v\d+$/.test(uses))).toEqual([])
})

test('the workflow tries the versions of Node that CI tries', () => {
  const inCi = [...text('.ci/run').matchAll(/test-on-node\.ts ?(\S*)/g)].map(
    ([, version]) => version || `${engines.node.slice(2)}.0`,
  )
  const versions = /node: \[(.*)\]/.exec(text('.github/workflows/test.yml'))?.[1]?.split(', ')
  expect(versions?.filter((version) => version !== '24')).toEqual(inCi)
})

const Compose = v.object({
  services: v.record(
    v.string(),
    v.object({
      image: v.string(),
      command: v.optional(v.array(v.string())),
      volumes: v.optional(v.array(v.string()), []),
      secrets: v.optional(v.array(v.string()), []),
      environment: v.optional(v.record(v.string(), v.string()), {}),
    }),
  ),
  secrets: v.record(v.string(), v.object({ file: v.string() })),
  volumes: v.record(v.string(), v.null()),
})
const compose = v.parse(Compose, read('deploy/compose.yaml'))
const ours = Object.entries(compose.services).filter(([, { command }]) => command?.[0] !== undefined && command[0] in bin)

test('compose starts two servers and two relays', () => {
  expect(ours.map(([name, { command }]) => [name, ...(command ?? []).slice(0, 2)])).toEqual([
    ['api-1', 'folkmoot', 'serve'],
    ['api-2', 'folkmoot', 'serve'],
    ['relay-1', 'folkmoot-relay', 'run'],
    ['relay-2', 'folkmoot-relay', 'run'],
  ])
})

test.each(ours)('the help lists every flag and variable of %s in compose', async (_, { command, environment }) => {
  const [program, name = '', ...flags] = command ?? []
  const { stdout } = await ended(program === 'folkmoot' ? 'folkmoot' : 'folkmoot-relay', name, '--help')
  const known: readonly string[] = stdout.match(/--[\w-]+/g) ?? []
  expect(flags.map((flag) => flag.replace(/=.*/, '')).filter((flag) => !known.includes(flag))).toEqual([])
  const needed = program === 'folkmoot' ? 'FOLKMOOT_STORAGE' : 'FOLKMOOT_OUTBOX'
  expect(stdout).toContain(needed)
  expect(environment).toHaveProperty(needed)
})

test('the programs in compose share a network, so each has ports of its own', () => {
  const ports = ours.flatMap(([, { command }]) => command?.flatMap((flag) => /port=(\d+)$/.exec(flag)?.[1] ?? []) ?? [])
  expect(new Set(ports).size).toBe(6)
})

test('the health check of each program in compose requests a port that it opens', () => {
  for (const [name, { command, environment }] of ours) {
    const port = /^http:\/\/127\.0\.0\.1:(\d+)\/readyz$/.exec(environment['HEALTH_URL'] ?? '')?.[1]
    expect(
      command?.some((flag) => [`--port=${port}`, `--control-port=${port}`].includes(flag)),
      name,
    ).toBe(true)
  }
})

test('Prometheus in compose scrapes every program, in the jobs that the rules know', () => {
  const Scrapes = v.object({
    scrape_configs: v.array(
      v.object({ job_name: v.string(), static_configs: v.array(v.object({ targets: v.array(v.string()) })) }),
    ),
  })
  const { scrape_configs } = v.parse(Scrapes, read('deploy/prometheus.yaml'))
  const targets = scrape_configs.map(({ job_name, static_configs }) => [
    job_name,
    ...static_configs.flatMap((each) => each.targets),
  ])
  const portsOf = (flag: string) =>
    ours
      .flatMap(([, { command }]) => command?.filter((each) => each.startsWith(flag)) ?? [])
      .map((each) => `127.0.0.1:${each.slice(flag.length)}`)
  expect(targets).toEqual([
    ['folkmoot', ...portsOf('--metrics-port=')],
    ['folkmoot-relay', ...portsOf('--control-port=')],
  ])
  for (const [job] of targets)
    expect(text('docs/monitoring/alerts.yaml') + text('docs/monitoring/server-alerts.yaml')).toContain(`job="${job}"`)
})

test('every file, secret and volume that compose mounts is there', () => {
  const mounts = Object.values(compose.services).flatMap(({ volumes }) => volumes.map((each) => each.split(':')[0] ?? ''))
  const [paths, volumes] = [mounts.filter((each) => each.startsWith('.')), mounts.filter((each) => !each.startsWith('.'))]
  expect(paths.filter((path) => !existsSync(join(root, 'deploy', path)))).toEqual([])
  expect(new Set(volumes)).toEqual(new Set(Object.keys(compose.volumes)))
  const used = Object.values(compose.services).flatMap(({ secrets }) => secrets)
  expect(new Set(used)).toEqual(new Set(Object.keys(compose.secrets)))
  for (const { file } of Object.values(compose.secrets))
    expect(text('deploy/README.md')).toContain(`> ${file.replace('./secrets/', '')}`)
})
