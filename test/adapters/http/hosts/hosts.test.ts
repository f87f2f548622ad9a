/** Every host runs its example from `docs/examples` and passes the same checks. */
import { rmSync } from 'node:fs'
import process from 'node:process'
import { afterAll, describe, expect, test } from 'vitest'
import packageFile from '../../../../package.json' with { type: 'json' }
import { soaking } from '../../../support/rounds.ts'
import { application } from './application.ts'
import { type Host, hosts } from './hosts.ts'
import { tableOf, write, written } from './page.ts'
import { questions } from './questions.ts'
import { type Command, type Running, start } from './running.ts'

const app = await application()
const begun: Promise<Running>[] = []
afterAll(async () => {
  for (const result of await Promise.allSettled(begun)) if (result.status === 'fulfilled') await result.value.end()
  rmSync(app.directory, { recursive: true })
})

function begin({ name }: Host, command: Command, basePath: string): Promise<Running> {
  const data = app.data(`${name}${basePath}`.replaceAll(/\W/g, '-'))
  const running = start(command, app.directory, data, { BASE_PATH: basePath, TOKEN: app.token })
  begun.push(running)
  return running
}

async function beginAtRoot(host: Host, command: Command): Promise<Running> {
  await host.prepare?.(app)
  return begin(host, command, '')
}

/** The result of each question, by its column. */
const results = new Map<Host, Map<string, string>>()

for (const host of hosts) {
  const {
    name,
    command,
    own,
    notes = {},
    without = [],
    isInMemory = false,
    sendsChunks = false,
    statusAtStop = 201,
    exitCode = 0,
  } = host
  if (!command) {
    test(`${name} responds as every host`, ({ skip }) => skip(`${name} is not installed: \`npm run test:hosts\` installs it`))
    continue
  }
  // All of them start together. A host that does not start fails its tests, which wait for it.
  const atRoot = beginAtRoot(host, command)
  atRoot.catch(() => {})
  const shown = new Map(without.map((column) => [column, '–']))
  results.set(host, shown)
  const tried = async () => ({
    host: await atRoot,
    below: () => begin(host, command, '/community'),
    ...{ token: app.token, isInMemory, sendsChunks, statusAtStop, exitCode },
  })
  describe(name, () => {
    if (own) test(own.title, async () => own.run(await tried()))
    for (const { title, column, run, needsAnother } of questions)
      if (!without.includes(column) && (soaking || !needsAnother))
        test(title, async () => {
          await run(await tried())
          shown.set(column, ['✓', notes[column]].filter((part) => part !== undefined).join(' '))
        })
  })
}

test('the table of docs/hosts.md has these hosts, their versions and results', ({ skip }) => {
  const { node } = packageFile.devDependencies
  if (process.versions.node !== node) skip(`the table is of Node ${node}, and this is ${process.versions.node}`)
  const columns = questions.map(({ column }) => column)
  const ran = [...results].map(([{ name, version }, shown]) => ({
    host: name,
    version,
    // A question that was not tried keeps its result.
    results: questions.map(({ column, needsAnother }) => shown.get(column) ?? (needsAnother && !soaking ? undefined : '✗')),
  }))
  const names = hosts.map(({ name }) => name)
  if (process.env['FOLKMOOT_WRITE_HOSTS']) write(tableOf(names, columns, ran))
  const state =
    tableOf(names, columns, ran) === written() ? 'current' : 'out of date: run `FOLKMOOT_WRITE_HOSTS=yes npm run test:hosts`'
  expect(state).toBe('current')
})
