/** Every host runs its example from `docs/examples` and answers the same questions. */
import { rmSync } from 'node:fs'
import process from 'node:process'
import { afterAll, describe, expect, test } from 'vitest'
import { application, versionOf } from './application.ts'
import { type Row, tableOf, write, written } from './page.ts'
import { type Asked, questions } from './questions.ts'
import { type Command, type Running, start } from './running.ts'

interface Host {
  readonly name: string
  readonly version: string
  readonly command: Command
}

const node = (name: string, title: string, version = versionOf(name)): Host => ({
  name: title,
  version,
  command: { program: process.execPath, args: [`${name}.ts`] },
})

const hosts: readonly Host[] = [
  node('node', 'node:http', process.versions.node),
  node('express', 'Express'),
  node('fastify', 'Fastify'),
  node('koa', 'Koa'),
  node('hono', 'Hono'),
]

const app = await application()
const begun: Promise<Running>[] = []
afterAll(async () => {
  for (const result of await Promise.allSettled(begun)) if (result.status === 'fulfilled') await result.value.end()
  rmSync(app.directory, { recursive: true })
})

function begin({ name, command }: Host, basePath: string): Promise<Running> {
  const running = start(command, app.directory, app.data(`${name}${basePath}`.replaceAll(/\W/g, '-')), basePath)
  begun.push(running)
  return running
}

async function beginBoth(host: Host): Promise<readonly [Running, Running]> {
  const root = await begin(host, '')
  // From here on the code of the library is compiled already.
  return [root, await begin(host, '/community')]
}

/** All of them start at once. A host that does not start fails its tests, which wait for it. */
const asked = new Map(hosts.map((host) => [host, beginBoth(host)]))
for (const both of asked.values()) both.catch(() => {})

const rows = new Map(hosts.map((host): [Host, string[]] => [host, []]))

describe.each(hosts.map((host) => [host.name, host] as const))('%s', (_, host) => {
  test.each(questions.map((question) => [question.title, question] as const))('%s', async (_, question) => {
    const [root, below] = (await asked.get(host)) ?? []
    if (!root || !below) throw new Error(`${host.name} was not started`)
    const it: Asked = { host: root, below, token: app.token }
    await question.ask(it)
    rows.get(host)?.push('✓')
  })
})

test('the table of docs/hosts.md has these hosts, their versions and results', () => {
  const ran: Row[] = hosts.map((host) => ({ host: host.name, version: host.version, results: rows.get(host) ?? [] }))
  const names = hosts.map(({ name }) => name)
  const table = tableOf(
    names,
    questions.map(({ column }) => column),
    ran,
  )
  if (process.env['FOLKMOOT_WRITE_HOSTS']) write(table)
  const state =
    table === written()
      ? 'current'
      : 'out of date: run `FOLKMOOT_WRITE_HOSTS=yes npx vitest run --project main test/adapters/http/hosts`'
  expect(state).toBe('current')
})
