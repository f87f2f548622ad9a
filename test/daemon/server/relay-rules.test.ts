/** Endpoints whose address the relay of the same process would never reach. */
import { describe, expect, test } from 'vitest'
import { withRelayRules } from '../../../daemon/server/operate/relay-rules.ts'
import { begun } from '../../support/begun.ts'
import { createTestCommunity } from '../../support/community.ts'
import { folkmoot } from '../../support/program.ts'

const strict = { allowHttp: false, allowPrivate: false, allowAddresses: [], ports: [] }
const given = { network: '1', token: 'the-token' }

describe('a community that follows the rules of its relay', () => {
  test.each([
    ['https://10.0.0.1/hook', '10.0.0.1 is not a public address'],
    ['https://2130706433/hook', '127.0.0.1 is not a public address'],
    ['https://[::ffff:127.0.0.1]/hook', '::ffff:7f00:1 is not a public address'],
    ['https://localhost/hook', 'localhost is this machine'],
    ['https://example.org:22/hook', 'port 22 is not allowed'],
    ['http://example.org/hook', 'http: is not allowed, only https:'],
  ])('refuses %s, and names the reason and the remedy', async (url, reason) => {
    const { community, records } = await createTestCommunity()
    const { endpoints, by } = withRelayRules(community, strict)
    for (const calls of [endpoints, by({ actor: 'Ada' }).endpoints]) {
      const error = await calls.upsert({ ...given, url }).catch((thrown: unknown) => thrown)
      expect(error).toMatchObject({ status: 422, failure: { fields: ['url'] } })
      expect(String(error)).toContain(
        `url ${new URL(url).href}: the relay of this server would refuse every delivery, because ${reason}.`,
      )
      expect(String(error)).toContain('--allow-addresses')
    }
    expect(records).toEqual([])
    const { id } = await endpoints.upsert({ ...given, url: 'https://example.org/hook' })
    await expect(endpoints.update('1', id, { url })).rejects.toMatchObject({ status: 422 })
  })

  test('takes what its settings allow', async () => {
    const { community } = await createTestCommunity()
    const open = withRelayRules(community, { allowHttp: true, allowPrivate: true, allowAddresses: [], ports: [25] }).endpoints
    for (const url of ['http://127.0.0.1:8080/', 'http://localhost/', 'https://10.0.0.1:25/'])
      expect(await open.upsert({ ...given, url })).toMatchObject({ url })
    const range = withRelayRules(community, { ...strict, allowAddresses: ['127.0.0.0/8'] }).endpoints
    expect(await range.upsert({ ...given, url: 'https://localhost:8443/' })).toMatchObject({ url: 'https://localhost:8443/' })
  })

  test('changes an endpoint that had such an address before', async () => {
    const { community } = await createTestCommunity()
    const url = 'https://10.0.0.1/hook'
    const { id } = await community.endpoints.upsert({ ...given, url })
    const { endpoints } = withRelayRules(community, strict)
    expect(await endpoints.update('1', id, { url, name: 'Old' })).toMatchObject({ name: 'Old' })
    expect(await endpoints.upsert({ ...given, url, enabled: false })).toMatchObject({ id, enabled: false })
  })
})

describe('a server', () => {
  const start = async (...flags: readonly string[]) => {
    const server = begun('serve', '--demo', '--storage', 'memory:', '--json', '--port', '0', ...flags)
    return { server: JSON.parse(await server.firstLine()) as { readonly control: string } }
  }
  const add = (control: string, url: string) =>
    folkmoot('endpoints', 'add', '--server', control, '--url', url, '--token', 'the-key', '--json')

  test('with the relay refuses what it would never deliver, at the command line too', async () => {
    const { server } = await start('--relay', '--trust-proxy')
    expect((await add(server.control, 'https://192.168.0.1/hook')).refused).toContain('192.168.0.1 is not a public address')
    expect((await add(server.control, 'https://example.org/hook')).refused).toBeUndefined()
  })

  test('with a relay that reaches this machine takes its addresses, without a warning', async () => {
    const { server } = await start('--relay', '--allow-http')
    expect(await add(server.control, 'http://127.0.0.1:9999/hook')).toMatchObject({ refused: undefined, warnings: [] })
  })

  test('without the relay takes such an address, and the command warns', async () => {
    const { server } = await start('--allow-http')
    const { refused, warnings } = await add(server.control, 'http://127.0.0.1:9999/hook')
    expect(refused).toBeUndefined()
    expect(warnings).toEqual([
      'relays refuse this address, unless their settings allow it: it is not https (setting `allowHttp`), and 127.0.0.1 is not a public address (setting `allowAddresses` or `allowPrivate`)',
    ])
  })
})
