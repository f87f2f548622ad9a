/** Commands beside a running server: they go through its control where no one else can open the storage. */
import { mkdir, readFile, stat, writeFile } from 'node:fs/promises'
import { request } from 'node:http'
import { createServer } from 'node:net'
import { dirname, join } from 'node:path'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { openOutbox } from '../../../adapters/outbox/file.ts'
import { lowdbStorage } from '../../../adapters/storage/lowdb.ts'
import { serverAt } from '../../../daemon/server/control/call-control.ts'
import type { Operator } from '../../../daemon/server/control/calls.ts'
import { writeControlFile } from '../../../daemon/server/control/place.ts'
import { startControl } from '../../../daemon/server/control/serve-control.ts'
import { createCommunity } from '../../../lib/index.ts'
import { begun } from '../../support/begun.ts'
import { run } from '../../support/command.ts'
import { temporaryDirectory } from '../../support/directory.ts'
import type { Json } from '../../support/json.ts'
import { ended, folkmoot } from '../../support/program.ts'

const serveDemo = ['serve', '--demo', '--allow-http', '--json', '--port', '0'] as const

async function startServer(...flags: readonly string[]) {
  const server = begun(...serveDemo, ...flags)
  const facts = JSON.parse(await server.firstLine()) as Json
  const me = async (token: string) =>
    (await fetch(`${facts.url}/admin/v1/networks/demo/me`, { headers: { authorization: `Bearer ${token}` } })).status
  return { ...server, facts, me }
}

/** The objects that a command printed. */
async function ran(...args: readonly string[]): Promise<Json[]> {
  const { lines, refused } = await folkmoot(...args, '--json')
  expect([args, refused]).toEqual([args, undefined])
  return lines
    .join('\n')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Json)
}

test('a command can make only the calls that a running server takes', () => {
  const calls = (operator: Operator) => [operator.keys.list, operator.notify.emailConsent]
  // @ts-expect-error: the control has no such call, so beside a server it would fail
  const other = (operator: Operator) => operator.keys.page
  expect([calls.length, other.length]).toEqual([1, 1])
})

test('a server without a place for temporary files warns that commands cannot reach it, and responds', async () => {
  const directory = temporaryDirectory()
  vi.stubEnv('TMPDIR', join(directory, 'missing'))
  onTestFinished(() => void vi.unstubAllEnvs())
  const { me, facts, out } = await startServer('--storage', `sqlite:${join(directory, 'db.sqlite')}`)
  expect([facts.control, await me(facts.token)]).toEqual([null, 200])
  expect(out.stderr).toMatch(/commands cannot reach this server: no temporary directory can be made; TMPDIR names another place/)
  expect(await ended('folkmoot', 'serve', '--storage', 'memory:', '--port', '0')).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/^folkmoot: no temporary directory can be made; TMPDIR names another place/),
  })
})

test('with a server running on lowdb, commands manage keys, endpoints and networks as on any other storage', async () => {
  const storage = `lowdb:${join(temporaryDirectory(), 'db.json')}`
  const { me, facts, stop, out } = await startServer('--storage', storage)
  const [key] = await ran('keys', 'create', '--storage', storage, '--name', 'Connector', '--scope', 'me:read')
  expect(await me(key.token)).toBe(200)
  const hook = ['--url', 'https://example.org/hook', '--token', 'k']
  const [endpoint] = await ran('endpoints', 'add', '--storage', storage, ...hook)
  expect(endpoint).toMatchObject({ url: 'https://example.org/hook' })
  const [member] = await ran('members', 'list', '--storage', storage, '--limit', '1')
  expect(await ran('members', 'erase', member.id, '--yes', '--storage', storage)).toMatchObject([
    { id: member.id, state: 'deleted' },
  ])
  const file = join(dirname(storage.slice('lowdb:'.length)), 'people.ndjson')
  const bio = '“'.repeat(4000)
  await writeFile(
    file,
    Array.from({ length: 150 }, (_, n) => JSON.stringify({ email: `m${n}@x.org`, first_name: 'M', bio })).join('\n'),
  )
  expect(await ran('members', 'import', file, '--storage', storage)).toMatchObject([{ created: 150, refused: 0 }])
  const gone = await ran('members', 'list', '--state', 'deleted', '--storage', storage)
  expect(gone).toMatchObject([{ id: member.id, email: '', erased_at: expect.any(String) }])
  expect((await folkmoot('members', 'unban', member.id, '--storage', storage)).refused).toBe('The member is not banned')
  await ran('keys', 'revoke', key.id, '--storage', storage)
  expect(await me(key.token)).toBe(401)
  await ran(
    'networks',
    'create',
    '--storage',
    storage,
    '--subdomain',
    'paint-pals',
    '--title',
    'Paint Pals',
    '--owner-email',
    'ada@example.org',
    '--owner-name',
    'Ada Ash',
  ) // prettier-ignore
  const { refused } = await folkmoot('keys', 'list', '--storage', storage)
  expect(refused).toMatch(/^choose a network with --network: 1 \(demo\), \d+ \(paint-pals\)$/)
  expect((await folkmoot('keys', 'list', '--storage', storage, '--network', 'nowhere')).refused).toMatch(
    /^there is no network "nowhere"; there are 1 \(demo\)/,
  )
  expect(await me(facts.token)).toBe(200)

  await stop()
  await expect(stat(facts.control)).rejects.toThrow('ENOENT')
  expect(out.stderr).toBe('')
  // The same commands, now on the file.
  expect((await ran('keys', 'list', '--storage', storage, '--network', 'demo')).flat()).toContainEqual(
    expect.objectContaining({ id: key.id, status: 'Revoked' }),
  )
})

test('a server on memory is reached by its control file; a killed one is no obstacle', async () => {
  const inMemory = await startServer('--storage', 'memory:')
  const [key] = await ran('keys', 'create', '--server', inMemory.facts.control, '--name', 'x', '--scope', '*')
  expect(await inMemory.me(key.token)).toBe(200)
  await inMemory.stop()
  expect((await folkmoot('keys', 'list', '--server', inMemory.facts.control)).refused).toMatch(/^no server runs at /)
  expect((await folkmoot('keys', 'list', '--storage', 'memory:')).refused).toMatch(/^memory: begins and ends empty: .*--server/)

  const storage = `lowdb:${join(temporaryDirectory(), 'db.json')}`
  const killed = run('folkmoot', ...serveDemo, '--storage', storage)
  const { control } = JSON.parse(await killed.firstLine()) as Json
  killed.child.kill('SIGKILL')
  await killed.ended
  expect((await stat(control)).isFile()).toBe(true)
  expect((await ran('keys', 'list', '--storage', storage)).flat()).toHaveLength(1)
})

test('the next server removes the control directory of a killed one, and none of those that run', async () => {
  const flags = [...serveDemo, '--storage', 'memory:']
  const killed = run('folkmoot', ...flags)
  const { control } = JSON.parse(await killed.firstLine()) as Json
  killed.child.kill('SIGKILL')
  await killed.ended
  expect((await stat(control)).isFile()).toBe(true)
  const running = await startServer('--storage', 'memory:')
  await expect(stat(dirname(control))).rejects.toThrow('ENOENT')
  await startServer('--storage', 'memory:')
  expect((await ran('keys', 'list', '--server', running.facts.control)).flat()).toHaveLength(1)
})

test('a program that holds the file and takes no commands is named', async () => {
  const directory = temporaryDirectory()
  const path = join(directory, 'db.json')
  const storage = await lowdbStorage({ path, outbox: await openOutbox({ directory: join(directory, 'outbox') }) })
  onTestFinished(() => storage.close())
  const owner = { email: 'ada@example.org', first_name: 'Ada', last_name: 'Ash' }
  await createCommunity({ storage }).networks.create({ subdomain: 'paint-pals', title: 'Paint Pals', owner })
  const { refused } = await folkmoot('keys', 'list', '--storage', `lowdb:${path}`)
  const remedy = 'which takes no commands: end it, or make its keys and endpoints from its own code'
  expect(refused).toContain(`held by this process (lowdb storage), ${remedy}`)
})

describe('the control of a server', () => {
  const actors: string[] = []
  const operator = {
    networks: { list: async () => [{ id: '1' }] },
    keys: {
      async revoke() {
        throw new Error('secret of the machine')
      },
    },
    by: ({ actor }: { readonly actor: string }) => {
      actors.push(actor)
      return {}
    },
  }

  async function control(directory: string) {
    const file = join(directory, 'db.json.control')
    const faults: unknown[] = []
    const parts = { operator: operator as never, file, onFault: (_: string, error: unknown) => void faults.push(error) }
    const started = await startControl(parts)
    onTestFinished(() => started.close())
    const { token, socket } = JSON.parse(await readFile(file, 'utf8')) as { token: string; socket: string }
    const ask = (headers: Readonly<Record<string, string>>, body = '{"call":"networks.list","arguments":[]}', path = '/') =>
      new Promise<{ status: number | undefined; body: string }>((resolve, reject) => {
        const own = { host: 'folkmoot-control', authorization: `Bearer ${token}`, ...headers }
        const sent = request({ socketPath: join(directory, socket), method: 'POST', path, headers: own }, (response) => {
          let text = ''
          response.on('data', (chunk) => {
            text += chunk
          })
          response.on('end', () => resolve({ status: response.statusCode, body: text }))
        })
        sent.on('error', reject)
        sent.end(body)
      })
    return { file, faults, ask }
  }

  test('is for its own user, and takes nothing but its calls', async () => {
    const directory = temporaryDirectory()
    const { file, ask, faults } = await control(directory)
    for (const path of [file, `${file}.sock`]) expect((await stat(path)).mode & 0o777).toBe(0o600)
    expect(await ask({})).toEqual({ status: 200, body: '{"result":[{"id":"1"}]}\n' })
    await ask({ 'folkmoot-actor': 'cli%3A%C3%84da' })
    await ask({ 'folkmoot-actor': '%' })
    expect(actors.slice(-3)).toEqual(['cli', 'cli:Äda', 'cli'])
    expect((await ask({ authorization: 'Bearer wrong' })).status).toBe(401)
    expect((await ask({ host: 'localhost' })).status).toBe(403)
    expect((await ask({ origin: 'https://example.org' })).status).toBe(403)
    expect((await ask({}, undefined, '/other')).status).toBe(404)
    const bad = [
      '',
      'null',
      '{"call":"close","arguments":[]}',
      '{"call":"networks.constructor","arguments":[]}',
      '{"call":"__proto__.list","arguments":[]}',
      '{"call":"networks.list","arguments":[1,2,3,4]}',
      '{"call":"networks.list","arguments":[],"more":1}',
      JSON.stringify({ call: 'networks.list', arguments: ['x'.repeat(1024 * 1024)] }),
    ]
    for (const body of bad) expect([body.slice(0, 60), (await ask({}, body)).status]).toEqual([body.slice(0, 60), 400])
    const failed = await ask({}, '{"call":"keys.revoke","arguments":["1","2"]}')
    expect(failed.status).toBe(500)
    expect(failed.body).not.toContain('secret of the machine')
    expect(faults).toEqual([new Error('secret of the machine')])
  })

  test('is found however long the path of the storage is', async () => {
    const directory = join(temporaryDirectory(), 'a'.repeat(90), 'b'.repeat(90))
    await mkdir(directory, { recursive: true })
    const { file } = await control(directory)
    expect(await (await serverAt(file))?.networks.list()).toEqual([{ id: '1' }])
  })

  test('that does not respond ends the command with a sentence, and so does another kind of file', async () => {
    const directory = temporaryDirectory()
    const file = join(directory, 'db.json.control')
    const silent = createServer(() => undefined)
    await new Promise<void>((listening) => silent.listen(`${file}.sock`, listening))
    onTestFinished(() => void silent.close())
    await writeControlFile(file, { pid: 4711, socket: 'db.json.control.sock', token: 't' })
    await expect(serverAt(file, 50)).rejects.toThrow(/^process 4711 holds .*db\.json and does not respond/)
    for (const [text, sentence] of [
      ['scroll', /is not the control file of a server$/],
      ['{"folkmoot_control":99}', /another version/],
      ['{"folkmoot_control":1,"pid":1,"socket":"../x.sock","token":"t"}', /is damaged/],
    ] as const) {
      await writeFile(file, text)
      await expect(serverAt(file)).rejects.toThrow(sentence)
    }
  })
})
