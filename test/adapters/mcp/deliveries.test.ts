/** The tools for the deliveries of a relay. */
import { expect, test } from 'vitest'
import { createMcp } from '../../../adapters/mcp/index.ts'
import { testCommunity } from '../../../adapters/testing/index.ts'
import type { DeliveryFilter, RelayAdmin } from '../../../lib/relay/relay-admin.ts'
import { call, clientOf } from '../../support/mcp.ts'

const row = (id: string) => ({
  ...{ id, network_id: '1', endpoint_id: '7', event_id: `event-${id}`, event_type: 'PostCreatedHook' },
  ...{ event_timestamp: '2026-01-01T00:00:00Z', state: 'dead', attempts: 1, last_attempt_at: null, last_outcome: 'http' },
  ...{ last_status: 500, milliseconds: 3, next_attempt_at: null },
})

/** A relay with some dead deliveries, which notes what it is asked. */
function relayOf(state: { dead: number }) {
  const asked: [string, unknown][] = []
  const note =
    <T>(name: string, result: (given: never) => T) =>
    async (given: unknown) => {
      asked.push([name, given])
      return result(given as never)
    }
  const progress = { id: 'r1', state: 'done', done: state.dead, of: { count: state.dead, exact: true }, started_at: '' }
  const relay = {
    status: note('status', () => ({ running: true, relays: [], notices: [], endpoints: [] })),
    list: note('list', ({ limit = 50 }: { limit?: number }) => ({
      items: Array.from({ length: Math.min(limit, 3) }, (_, place) => row(String(place))),
      next: limit < 3 ? String(limit) : null,
    })),
    count: note('count', (_: DeliveryFilter) => ({ count: state.dead, exact: true })),
    explain: note('explain', () => undefined),
    test: note('test', () => undefined),
    resend: note('resend', () => progress),
    progress: note('progress', () => progress),
  }
  return { relay: relay as unknown as RelayAdmin, asked }
}

const connected = async (state: { dead: number }, write: readonly string[] = ['deliveries']) => {
  const { relay, asked } = relayOf(state)
  return { ...(await clientOf({ relay, token: 'any', only: ['deliveries'], write })), asked }
}

test('they are there with a relay, and those that write for the group', async () => {
  const names = async (write: readonly string[]) =>
    (await (await connected({ dead: 0 }, write)).client.listTools()).tools.map(({ name }) => name)
  expect(await names([])).toEqual(['deliveries_status', 'deliveries_list', 'deliveries_explain'])
  expect(await names(['deliveries'])).toEqual([
    ...['deliveries_status', 'deliveries_list', 'deliveries_explain', 'deliveries_test', 'deliveries_resend'],
  ])
  const { client } = await clientOf()
  expect((await client.listTools()).tools.filter(({ name }) => name.startsWith('deliveries'))).toEqual([])
})

test('a token of the API opens no deliveries: a relay needs the option token', async () => {
  const { community } = await testCommunity()
  const { relay } = relayOf({ dead: 0 })
  expect(() => createMcp(community, { relay })).toThrow('option `relay` needs `token`')
  expect(() => createMcp(community, { relay: {} as never, token: 'x' })).toThrow(/relay/)
})

test('every call is about the network of the tools, whatever an agent gives', async () => {
  const { client, asked } = await connected({ dead: 2 })
  expect(await call(client, 'deliveries_list', { network_id: '2' })).toMatchObject({ isError: true })
  await call(client, 'deliveries_status')
  await call(client, 'deliveries_list', { limit: 2, state: 'dead' })
  await call(client, 'deliveries_resend', { all: true })
  expect(asked.map(([name, given]) => [name, (given as { network_id: string }).network_id])).toEqual([
    ...[
      ['status', '1'],
      ['list', '1'],
      ['count', '1'],
      ['resend', '1'],
    ],
  ])
})

test('a list has pages, and a wrong condition is refused by its name', async () => {
  const { client, asked } = await connected({ dead: 0 })
  const page = (await call(client, 'deliveries_list', { limit: 2 })).data as { items: unknown[]; next_cursor: string }
  expect([page.items.length, page.next_cursor]).toEqual([2, '2'])
  await call(client, 'deliveries_list', { limit: 2, cursor: page.next_cursor })
  expect(asked.at(-1)).toEqual(['list', { network_id: '1', limit: 2, after: '2' }])
  for (const [given, text] of [
    [{ state: 'lost' }, 'state is one of pending, delivered, dead, skipped'],
    [{ since: 'yesterday' }, /^since takes a date and time that exists/],
    [{ limit: 101 }, /^the arguments |limit/],
  ] as const)
    expect((await call(client, 'deliveries_list', given)).text).toMatch(text)
  expect((await call(client, 'deliveries_explain', { endpoint_id: '7', event_id: 'none' })).text).toBe(
    'there is no such endpoint or event in this network',
  )
})

test('a resend is previewed, refused if it would send other deliveries, and in the audit', async () => {
  const state = { dead: 2 }
  const { client, asked, community } = await connected(state)
  const resend = (given: Record<string, unknown>) => call(client, 'deliveries_resend', given)
  expect((await resend({ state: 'dead' })).text).toMatch(/^deliveries_resend needs ids, a condition besides state, or all: true$/)
  const shown = (await resend({ all: true, preview: true })).data as { token: string }
  expect(shown).toMatchObject({ would_resend: 2, exact: true })
  expect(asked.map(([name]) => name)).not.toContain('resend')
  state.dead = 3
  expect((await resend({ all: true, if_preview: shown.token })).text).toMatch(/^if_preview: the deliveries are no longer those/)
  state.dead = 2
  expect((await resend({ http_status: 500, if_preview: shown.token })).isError).toBe(true)
  expect(asked.map(([name]) => name)).not.toContain('resend')
  expect((await resend({ all: true, if_preview: shown.token })).data).toMatchObject({ state: 'done', done: 2 })
  const { items } = await community.audit.list({ network: '1' })
  expect(items.filter(({ action }) => action === 'deliveries.resent')[0]).toMatchObject({ actor: expect.stringMatching(/agent/) })
})

test('a relay that is away is named', async () => {
  const { relay } = relayOf({ dead: 0 })
  const away = { ...relay, list: () => Promise.reject(new TypeError('fetch failed')) }
  const { client } = await clientOf({ relay: away, token: 'any', only: ['deliveries'] })
  expect((await call(client, 'deliveries_list')).text).toMatch(/^the relay does not respond/)
})
