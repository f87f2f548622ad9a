/** Addresses that somebody gives with a password: no output of a command has it, whatever the address looks like. */
import { join } from 'node:path'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { forwardUrl } from '../../daemon/server/listen/flags.ts'
import { temporaryDirectory } from '../support/directory.ts'
import { ended } from '../support/program.ts'

afterEach(() => void vi.unstubAllEnvs())

const password = 'DBSECRET'
const schemes = ['postgres://', 'POSTGRES://', 'postgress://', 'mysql://', 'redis://', 'https://', 'sqlite://', '//', '']
const forms = schemes.map((scheme) => `${scheme}u:${password}@127.0.0.1:1/x`)
const addresses = [
  ...forms,
  // Those of PostgreSQL would be tried, each for seconds.
  ...forms.slice(1).flatMap((address) => [` ${address}`, `${address}\n`]),
  ...forms.map((address) => `"${address}"`),
  `redis://${password}@127.0.0.1:1`,
  `mysql://127.0.0.1:1/x?user=u&password=${password}`,
  `host=127.0.0.1 port=1 password=${password}`,
  `postgres://u:DB@/${password}@127.0.0.1:1/x`,
]

const target = ['--network', '1', '--token', 'x']
const lowdb = 'LOWDB'
type Place = readonly [program: 'folkmoot' | 'folkmoot-relay', ...args: string[]]
const here = 'ADDRESS'
const places: readonly Place[] = [
  ['folkmoot', 'networks', 'list', '--storage', here],
  ['folkmoot', 'networks', 'list', '--server', here],
  ['folkmoot', 'networks', 'list', `--sotrage=${here}`],
  ['folkmoot', 'networks', 'list', here],
  ['folkmoot', 'info', '--storage', here],
  ['folkmoot', 'migrate', '--storage', here],
  ['folkmoot', 'panel-link', '--storage', here],
  ['folkmoot', 'copy', '--from', here, '--to', lowdb],
  ['folkmoot', 'copy', '--from', here, '--to', here],
  ['folkmoot', 'pull', '--from', here, '--to', lowdb, ...target],
  ['folkmoot', 'pull', '--from', 'http://127.0.0.1:1', '--to', here, ...target],
  ['folkmoot', 'push', '--from', here, '--to', 'http://127.0.0.1:1', ...target],
  ['folkmoot', 'push', '--from', lowdb, '--to', here, ...target],
  ['folkmoot', 'diff', '--a', here, '--b', 'http://127.0.0.1:1', '--network', '1', '--a-token', 'x', '--b-token', 'x'],
  ['folkmoot', 'mcp', '--url', here, ...target],
  ['folkmoot', 'init', 'x', '--storage', here],
  ['folkmoot', 'serve', '--storage', here, '--port', '0'],
  ['folkmoot', 'serve', '--storage', 'memory:', '--port', '0', '--public-url', `${here}/`],
  ['folkmoot-relay', 'check', '--outbox', here],
  ['folkmoot-relay', 'status', '--outbox', here],
  ['folkmoot-relay', 'config', '--outbox', here],
  ['folkmoot-relay', 'config', '--proxy', here],
  ['folkmoot-relay', 'dead', '--outbox', here],
  ['folkmoot-relay', 'resend', here],
]

describe.each(places.map((place) => [place.join(' '), place] as const))('%s', (_, [program, ...args]) => {
  test('prints no password', async () => {
    const file = `lowdb:${join(temporaryDirectory(), 'db.json')}`
    for (const [index, address] of addresses.entries()) {
      const given = args.map((arg) => arg.replace(here, () => address).replace(lowdb, () => file))
      const { stdout, stderr } = await ended(program, ...given, ...(index % 2 === 0 ? ['--json'] : []))
      expect(stdout + stderr, given.join(' ')).not.toContain(password)
    }
  })
})

test('listen prints no password of --forward-to', () => {
  for (const address of forms) {
    expect(() => forwardUrl(address)).toThrow('--forward-to must be like')
    expect(() => forwardUrl(address)).toThrow(expect.objectContaining({ message: expect.not.stringContaining(password) }))
  }
})

test.each([
  ['folkmoot', 'FOLKMOOT_STORAGE', ['networks', 'list']],
  ['folkmoot-relay', 'FOLKMOOT_OUTBOX', ['check']],
  ['folkmoot-relay', 'FOLKMOOT_PROXY', ['config']],
] as const)('%s prints no password of the variable %s', async (program, name, args) => {
  for (const address of addresses) {
    vi.stubEnv(name, address)
    const { stdout, stderr } = await ended(program, ...args)
    expect(stdout + stderr, address).not.toContain(password)
  }
})

test.each([' ', '\t', '\n'])('a blank (%j) around an address does not count', async (blank) => {
  const storage = `sqlite:${join(temporaryDirectory(), 'db.sqlite')}`
  const owner = ['--owner-email', 'ada@example.org', '--owner-name', 'Ada Ash']
  const create = ['networks', 'create', '--subdomain', 'one', '--title', 'One', ...owner]
  expect(await ended('folkmoot', ...create, '--storage', `${blank}${storage}${blank}`)).toMatchObject({ code: 0 })
  vi.stubEnv('FOLKMOOT_STORAGE', `${blank}${storage}`)
  expect(await ended('folkmoot', 'networks', 'list')).toMatchObject({ code: 0, stdout: expect.stringContaining('one') })
  vi.stubEnv('FOLKMOOT_OUTBOX', `${storage}${blank}`)
  expect(await ended('folkmoot-relay', 'check')).toMatchObject({ code: 0 })
})
