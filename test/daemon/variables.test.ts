/** Variables of the environment in place of options, in both programs. */
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, test, vi } from 'vitest'
import { createProgram as createRelay } from '../../daemon/relay/operate/commands/program.ts'
import { createProgram } from '../../daemon/server/program.ts'
import { begun, begunRelay } from '../support/begun.ts'
import { temporaryDirectory } from '../support/directory.ts'
import { ended } from '../support/program.ts'

afterEach(() => void vi.unstubAllEnvs())

const names = ['storage', 'server', 'network', 'outbox', 'token']
const variableOf = (name: string) => `FOLKMOOT_${name.toUpperCase()}`

type Command = ReturnType<typeof createProgram>
/** A variable that limits it to one network would leave the others out unnoticed. */
const copiesAll = (command: Command): boolean => command.name() === 'copy'
const leaves = (command: Command): readonly Command[] =>
  command.commands.length === 0 ? [command] : command.commands.flatMap(leaves)

const host = { json: false, failed: () => {}, version: '0.0.0' }
const programs = {
  folkmoot: createProgram({ ...host, out: { line: () => {}, warn: () => {} }, starting: () => {} }),
  'folkmoot-relay': createRelay({
    ...host,
    output: { write: () => {} },
    progress: () => {},
    onSignal: () => {},
    serviceManager: { socket: undefined, watchdog: 0 },
  }),
}

/** The token that a receiver gets, which the variable of an API token must never become. */
const isOfReceiver = ({ long, description }: Command['options'][number]): boolean =>
  long === '--token' && !description.startsWith('an API token')

test('no variable gives the token of an endpoint', () => {
  const tokens = leaves(programs.folkmoot).flatMap(({ options }) => options.filter(isOfReceiver))
  expect(tokens.length).toBeGreaterThan(2)
  expect(tokens.filter(({ envVar }) => envVar !== undefined)).toEqual([])
})

test.each(Object.entries(programs))(
  'every command of %s reads the variable of each such flag, and its help names it',
  (_, program) => {
    const flags = leaves(program)
      .filter((command) => !copiesAll(command))
      .flatMap((command) =>
        names
          .filter((name) =>
            command.options.some((option) => option.long === `--${name}` && !option.argChoices && !isOfReceiver(option)),
          )
          .map((name) => ({ command: command.name(), name, help: command.helpInformation().replace(/\s+/g, ' ') })),
      )
    expect(flags.length).toBeGreaterThan(5)
    expect(flags.filter(({ name, help }) => !help.includes(`env: ${variableOf(name)}`))).toEqual([])
  },
)

test('a storage and a network are taken from their variables, and a flag wins', async () => {
  const directory = temporaryDirectory()
  const storage = `sqlite:${join(directory, 'db.sqlite')}`
  vi.stubEnv('FOLKMOOT_STORAGE', storage)
  const owner = ['--owner-email', 'ada@example.org', '--owner-name', 'Ada Ash']
  for (const subdomain of ['one', 'two'])
    expect((await ended('folkmoot', 'networks', 'create', '--subdomain', subdomain, '--title', subdomain, ...owner)).code).toBe(0)
  vi.stubEnv('FOLKMOOT_NETWORK', 'one')
  const made = async (...flags: readonly string[]) =>
    JSON.parse((await ended('folkmoot', 'keys', 'create', '--name', 'x', '--scope', '*', '--json', ...flags)).stdout).network_id
  const [first, second] = [await made(), await made('--network', 'two')]
  expect(first).not.toBe(second)
  expect(JSON.parse((await ended('folkmoot', 'keys', 'list', '--json')).stdout).network_id).toBe(first)
  const missing = `sqlite:${join(directory, 'nothing.sqlite')}`
  expect(await ended('folkmoot', 'keys', 'list', '--storage', missing)).toMatchObject({
    code: 2,
    stderr: expect.not.stringContaining('FOLKMOOT_STORAGE'),
  })
})

test('an error that a variable causes names it, and nothing of a secret', async () => {
  const directory = temporaryDirectory()
  vi.stubEnv('FOLKMOOT_STORAGE', `lowdb:${join(directory, 'db.json')}`)
  expect((await ended('folkmoot', 'keys', 'list')).stderr).toMatch(
    /^folkmoot: there is no storage .* \(set by FOLKMOOT_STORAGE\)\n$/,
  )
  const asJson = await ended('folkmoot', 'keys', 'list', '--json')
  expect(JSON.parse(asJson.stderr)).toEqual({ error: expect.stringMatching(/\(set by FOLKMOOT_STORAGE\)$/) })
  vi.stubEnv('FOLKMOOT_STORAGE', 'papyrus:scroll')
  expect((await ended('folkmoot', 'keys', 'list')).stderr).toContain('(set by FOLKMOOT_STORAGE)')
  vi.stubEnv('FOLKMOOT_STORAGE', '')
  vi.stubEnv('FOLKMOOT_SERVER', join(directory, 'gone.control'))
  expect(await ended('folkmoot', 'keys', 'list')).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^folkmoot: no server runs at .* \(set by FOLKMOOT_SERVER\)\n$/),
  })
  vi.stubEnv('FOLKMOOT_SERVER', '')
  vi.stubEnv('FOLKMOOT_OUTBOX', join(directory, 'nowhere'))
  expect((await ended('folkmoot-relay', 'status')).stderr).toMatch(/no relay has run .* \(set by FOLKMOOT_OUTBOX\)\n$/)
  vi.stubEnv('FOLKMOOT_NETWORK', 'paint-pals')
  expect((await ended('folkmoot-relay', 'deliveries')).stderr).toContain('(set by FOLKMOOT_NETWORK)')
  vi.stubEnv('FOLKMOOT_TOKEN', 'top secret')
  const { stderr } = await ended('folkmoot', 'mcp', '--url', 'http://127.0.0.1:9')
  expect(stderr).toMatch(/token.* \(set by .*FOLKMOOT_TOKEN\)\n$/)
  expect(stderr).not.toContain('top secret')
})

test('a variable that is not the cause is not named, whatever the message and the values say', async () => {
  const directory = temporaryDirectory()
  const missing = `sqlite:${join(directory, 'nope.sqlite')}`
  vi.stubEnv('FOLKMOOT_OUTBOX', `sqlite:${join(directory, 'x.sqlite')}`)
  vi.stubEnv('FOLKMOOT_NETWORK', 'storage')
  expect((await ended('folkmoot', 'keys', 'list', '--storage', missing)).stderr).toBe(
    `folkmoot: there is no storage at ${join(directory, 'nope.sqlite')}: name one with --storage, or make one with \`folkmoot networks create\`\n`,
  )
  vi.stubEnv('FOLKMOOT_TOKEN', 'fmt_x')
  const network = await ended('folkmoot', 'mcp', '--url', 'http://127.0.0.1:9', '--network', 'paint pals')
  expect(network).toMatchObject({ code: 2, stderr: expect.stringContaining('network') })
  expect(network.stderr).not.toContain('set by')
})

test('an error about a record, a control file, a relay or a table that a variable led to names the variable', async () => {
  const directory = temporaryDirectory()
  const file = join(directory, 'db.sqlite')
  vi.stubEnv('FOLKMOOT_STORAGE', `sqlite:${file}`)
  vi.stubEnv('FOLKMOOT_NETWORK', 'one')
  const owner = ['--owner-email', 'ada@example.org', '--owner-name', 'Ada Ash']
  expect((await ended('folkmoot', 'networks', 'create', '--subdomain', 'one', '--title', 'One', ...owner)).code).toBe(0)
  for (const words of ['members show 77', 'endpoints enable 9', 'keys revoke 4', 'reports close 3 dismiss'])
    expect((await ended('folkmoot', ...words.split(' '))).stderr, words).toMatch(
      /network one has no .*\(set by FOLKMOOT_NETWORK\)\n$/,
    )
  expect((await ended('folkmoot', 'keys', 'revoke', '4', '--network', 'one')).stderr).not.toContain('set by')
  vi.stubEnv('FOLKMOOT_SERVER', join(directory, 'junk.control'))
  writeFileSync(join(directory, 'junk.control'), 'junk')
  expect((await ended('folkmoot', 'keys', 'list')).stderr).toMatch(/is not the control file.*\(set by FOLKMOOT_SERVER\)\n$/)
  vi.stubEnv('FOLKMOOT_SERVER', '')
  vi.stubEnv('FOLKMOOT_STORAGE', `lowdb:${join(directory, 'db.json')}`)
  writeFileSync(join(directory, 'db.json.control'), 'junk')
  expect((await ended('folkmoot', 'keys', 'list')).stderr).toMatch(/is not the control file.*\(set by FOLKMOOT_STORAGE\)\n$/)
  expect((await ended('folkmoot', 'migrate')).stderr).toMatch(/other storages have no tables.*\(set by FOLKMOOT_STORAGE\)\n$/)
  vi.stubEnv('FOLKMOOT_OUTBOX', `sqlite:${join(directory, 'none.sqlite')}`)
  expect(await ended('folkmoot-relay', 'check')).toMatchObject({
    code: 1,
    stdout: expect.stringMatching(/problem: there is no outbox .*\(set by FOLKMOOT_OUTBOX\)\n$/),
  })
})

test('a conflict of two variables names the wrong one, and a storage on the command line wins', async () => {
  const directory = temporaryDirectory()
  vi.stubEnv('FOLKMOOT_OUTBOX', join(directory, 'elsewhere'))
  const made = [
    'networks',
    'create',
    '--subdomain',
    'one',
    '--title',
    'One',
    '--owner-email',
    'ada@example.org',
    '--owner-name',
    'Ada',
  ]
  const storage = `sqlite:${join(directory, 'db.sqlite')}`
  vi.stubEnv('FOLKMOOT_STORAGE', storage)
  expect(await ended('folkmoot', ...made)).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/--outbox goes with .* \(set by FOLKMOOT_OUTBOX\)\n$/),
  })
  expect(await ended('folkmoot', ...made, '--storage', storage)).toMatchObject({ code: 0, stderr: '' })
  // The outbox of lowdb is elsewhere by the variable: its events must not go to a place that no relay reads.
  expect((await ended('folkmoot', ...made, '--storage', `lowdb:${join(directory, 'db.json')}`)).code).toBe(0)
  expect(existsSync(join(directory, 'elsewhere'))).toBe(true)
})

test('a port that is typed wins over the storage of a variable', async () => {
  const server = begun('serve', '--demo', '--allow-http', '--json', '--port', '0', '--storage', 'memory:')
  const { port } = new URL(JSON.parse(await server.firstLine()).url)
  vi.stubEnv('FOLKMOOT_STORAGE', `sqlite:${join(temporaryDirectory(), 'another.sqlite')}`)
  expect(await ended('folkmoot', 'panel-link', '--port', port)).toMatchObject({ code: 0 })
  expect(await ended('folkmoot', 'panel-link')).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/no server runs there.* \(set by FOLKMOOT_STORAGE\)\n$/),
  })
  await server.stop()
})

test('an empty variable counts as not set', async () => {
  for (const name of names) vi.stubEnv(variableOf(name), '')
  const storage = `sqlite:${join(temporaryDirectory(), 'db.sqlite')}`
  const named = ['--subdomain', 'one', '--title', 'One', '--owner-email', 'ada@example.org', '--owner-name', 'Ada']
  expect((await ended('folkmoot', 'networks', 'create', ...named, '--storage', storage)).code).toBe(0)
  expect((await ended('folkmoot', 'keys', 'list', '--storage', storage)).code).toBe(0)
  expect(await ended('folkmoot-relay', 'status')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('--outbox is missing'),
  })
  expect(await ended('folkmoot', 'mcp', '--url', 'http://127.0.0.1:9', '--token', 'x')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("required option '--network <id or subdomain>' not specified"),
  })
})

test('a storage on the command line wins over the server of a variable, and a file over the token of one', async () => {
  vi.stubEnv('FOLKMOOT_SERVER', join(temporaryDirectory(), 'gone.control'))
  const missing = `lowdb:${join(temporaryDirectory(), 'db.json')}`
  expect((await ended('folkmoot', 'keys', 'list', '--storage', missing)).stderr).toContain('there is no storage at')
  vi.stubEnv('FOLKMOOT_TOKEN', 'x')
  const file = join(temporaryDirectory(), 'missing')
  const mcp = await ended('folkmoot', 'mcp', '--url', 'http://127.0.0.1:9', '--network', '1', '--token-file', file)
  expect(mcp.stderr).toContain(`--token-file ${file} cannot be read`)
})

test('one pair of variables serves the server and the relay, on a storage that holds its own outbox too', async () => {
  for (const kind of ['sqlite', 'lowdb']) {
    const directory = temporaryDirectory()
    const storage = `${kind}:${join(directory, 'db')}`
    vi.stubEnv('FOLKMOOT_STORAGE', storage)
    vi.stubEnv('FOLKMOOT_OUTBOX', kind === 'sqlite' ? storage : join(directory, 'elsewhere'))
    const server = begun('serve', '--demo', '--allow-http', '--json', '--port', '0')
    const { outbox } = JSON.parse(await server.firstLine())
    expect(outbox).toBe(process.env['FOLKMOOT_OUTBOX'])
    const relay = begunRelay('run', '--json')
    await relay.written('"relay.started"')
    expect(await ended('folkmoot-relay', 'status', '--json')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('"running":true'),
    })
    // A network in the environment is no choice of what is sent again.
    vi.stubEnv('FOLKMOOT_NETWORK', '1')
    expect(await ended('folkmoot-relay', 'resend')).toMatchObject({ code: 2, stderr: expect.stringContaining('a resend needs') })
    const all = await ended('folkmoot-relay', 'resend', '--all')
    expect(all).toMatchObject({ code: 1, stderr: expect.stringMatching(/no endpoint of network 1.*FOLKMOOT_NETWORK/) })
    vi.stubEnv('FOLKMOOT_NETWORK', '')
    await relay.stop()
    await server.stop()
  }
})
