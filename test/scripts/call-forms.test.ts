/**
 * The examples of the operations' pages, read from the pages: `curl`, the client and the direct call of an operation request the
 * same of the seeded network, which does it, and the compiler takes both programs.
 */
import { execFile, spawnSync } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { buffer } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createClient } from '../../lib/client/index.ts'
import type { Community } from '../../lib/index.ts'
import { routesOf } from '../../lib/operation.ts'
import { operations } from '../../lib/operations.ts'
import { png } from '../support/ports.ts'
import { createSeededCommunity } from '../support/seed.ts'

const run = promisify(execFile)
const root = join(import.meta.dirname, '..', '..')
const routes = routesOf(operations)
const titles = ['curl', 'client', 'direct call']

/** The titled blocks below the heading of each operation. */
const blocksOf = new Map(
  globSync('docs/operations/*.md', { cwd: root }).flatMap((page) =>
    readFileSync(join(root, page), 'utf8')
      .split(/^##+ (?=\w+\.\w+$)/m)
      .slice(1)
      .map((section) => {
        const blocks = section.matchAll(/^```\w+ \[([^\]]+)\]\n(.*?)\n```$/gms)
        const [id = ''] = section.split('\n', 1)
        return [id, [...blocks].map(([, title = '', code = '']) => ({ title, code }))] as const
      }),
  ),
)

const hasCurl = spawnSync('curl', ['--version']).status === 0
if (!hasCurl) process.stderr.write('curl is not installed: its examples are not run\n')

/** A file is compared by its name and bytes. */
const plain = async (value: unknown): Promise<unknown> =>
  value instanceof File
    ? { name: value.name, bytes: await value.bytes() }
    : Object.fromEntries(
        await Promise.all(Object.entries(Object(value)).map(async ([name, field]) => [name, await fileOr(field)])),
      )
const fileOr = (field: unknown): unknown => (field instanceof File ? plain(field) : field)

/** What an operation was given, and how it ended. */
interface Requested {
  readonly route: string
  readonly params: unknown
  readonly query: unknown
  readonly body: unknown
  readonly status: number
}

let directory = ''
const server = createServer()
let answer: (request: Request) => Promise<Response>
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'call-forms-'))
  await writeFile(join(directory, 'rose.png'), png)
  const respond = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    const bytes = await buffer(incoming)
    const headers = new Headers(Object.entries(incoming.headers).map(([name, value]): [string, string] => [name, String(value)]))
    const method = incoming.method ?? 'GET'
    const init = { method, headers, ...(bytes.length > 0 ? { body: new Uint8Array(bytes) } : {}) }
    const response = await answer(new Request(`https://api.example.org${incoming.url}`, init))
    // Not `bytes()`: a host of another test in this process may have put a Response of its own in place, which lacks it.
    outgoing.writeHead(response.status, [...response.headers].flat()).end(Buffer.from(await response.arrayBuffer()))
  }
  server.on('request', (incoming, outgoing) => void respond(incoming, outgoing).catch((error: Error) => outgoing.destroy(error)))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
})
afterAll(async () => {
  server.close()
  await rm(directory, { recursive: true })
})

/** Runs a block of JavaScript below its imports, which only read the file. */
async function runCode(code: string, client: unknown, community: unknown): Promise<void> {
  const AsyncFunction = (async () => {}).constructor as new (...parts: string[]) => (...given: unknown[]) => Promise<void>
  const body = code.replace(/^import \{ readFile \} from 'node:fs\/promises'\n/, '')
  await new AsyncFunction('client', 'community', 'readFile', body)(client, community, async (name: string) => {
    expect(name).toBe('rose.png')
    return png
  })
}

const calling = ({ call }: Community) => call as (id: string, input: unknown) => Promise<unknown>

/** Runs a block in a seeded network of its own. */
async function requestOf({ title, code }: { readonly title: string; readonly code: string }): Promise<Requested> {
  const seen: { params: unknown; query: unknown; body: unknown }[] = []
  const { community, token } = await createSeededCommunity({
    hooks: {
      before: async ({ params, query, body }) => {
        seen.push({ params, query: await plain(query), body: await plain(body) })
      },
    },
  })
  let route = ''
  let status = 0
  const fetch = async (request: Request): Promise<Response> => {
    const { pathname } = new URL(request.url)
    const path = pathname.replace('/admin/v1/networks/1', '')
    const those = routes.filter(({ method, operation }) => {
      const pattern = `^${operation.path.replace(/:\w+/g, '[^/]+').replace(/\/$/, '')}/?$`
      return method === request.method && new RegExp(pattern).test(path)
    })
    const response = await community.fetch(request)
    status = response.status
    // A static segment comes before an id: `/members/by_email`.
    route =
      those.toSorted((a, b) => a.operation.path.split(':').length - b.operation.path.split(':').length)[0]?.id ?? request.url
    return response
  }
  if (title === 'curl') {
    answer = fetch
    const { port } = server.address() as AddressInfo
    const command = code.replace('https://api.example.org', `http://127.0.0.1:${port}`)
    await run('sh', ['-c', command], { cwd: directory, env: { ...process.env, TOKEN: token } })
  } else if (title === 'client') {
    await runCode(
      code,
      createClient({ baseUrl: 'https://api.example.org', network: '1', token, fetch, maxRetries: 0 }),
      undefined,
    )
  } else {
    await runCode(code, undefined, {
      call: async (id: string, input: { readonly network: string }) => {
        route = id
        expect(input.network).toBe('1')
        await calling(community)(id, input)
        status = routes.find((each) => each.id === id)?.operation.status ?? 0
      },
    })
  }
  expect(seen).toHaveLength(1)
  return { route, status, ...(seen[0] ?? expect.fail()) }
}

test('every operation has its three forms, and an upload both ways', () => {
  expect([...blocksOf.keys()].toSorted()).toEqual(routes.map(({ id }) => id).toSorted())
  for (const { id, operation } of routes) {
    const found = blocksOf.get(id)?.map(({ title }) => title)
    expect(found, id).toEqual(operation.form ? [...titles, ...titles] : titles)
  }
})

test.each(routes.map(({ id, operation }) => [id, operation] as const))(
  'curl, client and direct call of %s request the same, and it is done',
  async (id, { id: own, status }) => {
    const blocks = (blocksOf.get(id) ?? []).filter(({ title }) => title !== 'curl' || hasCurl)
    for (let first = 0; first < blocks.length; first += titles.length) {
      const those = blocks.slice(first, first + titles.length)
      const requested: Requested[] = []
      for (const block of those) requested.push(await requestOf(block))
      const { route: _, ...parts } = requested[0] ?? expect.fail()
      expect(parts.status).toBe(status)
      // A direct call has no method.
      expect(requested).toEqual(those.map(({ title }) => ({ ...parts, route: title === 'direct call' ? own : id })))
    }
  },
)

test('the compiler takes every call of the client and every direct call', async () => {
  const imports = new Set<string>()
  const functions = [...blocksOf.values()].flat().flatMap(({ title, code }, index) => {
    if (title === 'curl') return []
    const lines = code.split('\n')
    for (const line of lines) if (line.startsWith('import ')) imports.add(line)
    return [`export async function f${index}() {`, ...lines.filter((line) => !line.startsWith('import ')), '}']
  })
  const head = [
    `import type { Client } from '${root}/lib/client/index.ts'`,
    `import type { Community } from '${root}/lib/index.ts'`,
    ...imports,
    'declare const client: Client',
    'declare const community: Community',
  ]
  await writeFile(join(directory, 'forms.mts'), [...head, ...functions].join('\n'))
  const typeRoots = [join(root, 'node_modules', '@types')]
  const compilerOptions = { typeRoots, rewriteRelativeImportExtensions: false, allowImportingTsExtensions: true }
  const config = { extends: join(root, 'tsconfig.json'), compilerOptions, include: ['forms.mts'] }
  await writeFile(join(directory, 'tsconfig.json'), JSON.stringify(config))
  const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc')
  const { stdout } = await run(process.execPath, [tsc, '-p', directory]).catch((error: { stdout: string }) => error)
  expect(stdout).toBe('')
}, 60_000)
