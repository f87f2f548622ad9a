import { expect, test } from 'vitest'
import type { NewEndpoint } from '../../../lib/index.ts'
import { createTestCommunity } from '../../support/community.ts'

const secret = `whsec_${Buffer.alloc(24, 7).toString('base64')}`
const good = { network_id: '1', url: 'https://example.org/hook', key: 'k' } satisfies NewEndpoint

test('an endpoint is registered, changed under the same URL, and removed; the outbox hears of each', async () => {
  const { community, records } = await createTestCommunity()
  const added = await community.endpoints.upsert({ ...good, events: ['PostCreated'], secrets: [secret] })
  const changed = await community.endpoints.upsert({ ...good, key: 'k2', order: 'fifo', rate_per_second: 0.5 })
  expect(changed).toMatchObject({ id: added.id, key: 'k2', events: null, secrets: [], order: 'fifo', rate_per_second: 0.5 })
  expect(await community.endpoints.list('1')).toEqual([changed])
  await community.endpoints.remove('1', added.id)
  expect(await community.endpoints.list('1')).toEqual([])
  const shared = { kind: 'endpoint', id: added.id, network_id: '1' }
  expect(records).toEqual([
    expect.objectContaining({ ...shared, action: 'upsert', key: 'k', events: ['PostCreatedHook'], secrets: [secret] }),
    expect.objectContaining({ ...shared, action: 'upsert', key: 'k2', events: null }),
    { ...shared, action: 'remove' },
  ])
})

test("the host's own endpoint chooses among the mail that the host sends", async () => {
  const { community } = await createTestCommunity()
  const host = await community.endpoints.upsert({ ...good, audience: 'host', events: ['WelcomeEmailRequestedHook'] })
  expect(host).toMatchObject({ audience: 'host', events: ['WelcomeEmailRequestedHook'] })
})

const wrong: readonly [string, Record<string, unknown>, string][] = [
  ['no URL', { url: 'example' }, 'url'],
  ['another scheme', { url: 'ftp://example.org' }, 'url'],
  ['a password in the URL', { url: 'https://a:b@example.org' }, 'url'],
  ['a key that would break the header', { key: 'a\r\nb' }, 'key'],
  ['an empty key', { key: '' }, 'key'],
  ['an unknown event', { events: ['PostEaten'] }, 'events'],
  ['a host event for an integration', { events: ['WelcomeEmailRequestedHook'] }, 'events'],
  ['a webhook event for the host', { audience: 'host', events: ['PostCreatedHook'] }, 'events'],
  ['a secret that is none', { secrets: ['%%%'] }, 'secrets'],
  ['a short secret', { secrets: ['whsec_YWJj'] }, 'secrets'],
  ['an unknown audience', { audience: 'nobody' }, 'audience'],
  ['an unknown order', { order: 'random' }, 'order'],
  ['a rate of none', { rate_per_second: 0 }, 'rate_per_second'],
  ['a rate that is no number', { rate_per_second: Number.NaN }, 'rate_per_second'],
]

test.each(wrong)('refused: %s', async (_, part, field) => {
  const { community, records } = await createTestCommunity()
  const upsert = community.endpoints.upsert({ ...good, ...part } as NewEndpoint)
  await expect(upsert).rejects.toMatchObject({ status: 422, body: { error: expect.stringContaining(field) } })
  expect(records).toEqual([])
})

test('a key cannot be given a scope that does not exist', async () => {
  const { community } = await createTestCommunity()
  for (const scopes of [['nonsense:read'], ['members:dance'], ['*:write'], []])
    await expect(community.keys.create({ network_id: '1', name: 'x', scopes })).rejects.toMatchObject({ status: 422 })
})

test('what the host publishes is checked, and told in words', async () => {
  const { community } = await createTestCommunity()
  const wrongPayload = community.publish({ network: '1', event: 'MemberLeft', payload: { space_id: true } as never })
  await expect(wrongPayload).rejects.toMatchObject({
    status: 422,
    body: { error: 'member is required; space_id must be an id; network_id is required' },
  })
})
