/** Endpoints that are chat channels: what their registration needs and refuses, and where their address is never shown. */
import { expect, test } from 'vitest'
import type { NewEndpoint } from '../../../lib/index.ts'
import { createTestCommunity } from '../../support/community.ts'

const token = 'XQ7vPz31mNb8Kd02LtWs94Ra'
const url = `https://hooks.slack.example/services/T0/B0/${token}`
const channel = { network: '1', url, format: 'slack' } satisfies NewEndpoint
const masked = 'https://hooks.slack.example/***'

test('a channel needs no key, and its rate is that of its chat unless another one is given', async () => {
  const { community, records } = await createTestCommunity()
  const made = await community.endpoints.upsert({ ...channel, events: ['MemberJoined', 'EndpointDisabled'] })
  expect(made).toMatchObject({ format: 'slack', url: masked, signed: false, rate_per_second: 1 })
  expect(records.at(-1)).toMatchObject({ format: 'slack', url, key: '', requires: ['format', 'no-key'] })
  expect(records.at(-1)).toMatchObject({ events: ['MemberJoinedHook', 'EndpointDisabledHook'], rate_per_second: 1 })
  const change = (changes: object) => community.endpoints.update('1', made.id, changes)
  expect(await change({ format: 'discord' })).toMatchObject({ format: 'discord', rate_per_second: 0.5 })
  expect(await change({ rate_per_second: 3 })).toMatchObject({ format: 'discord', rate_per_second: 3 })
  expect(await change({ format: 'discord', name: 'Team' })).toMatchObject({ rate_per_second: 3, name: 'Team' })
  expect(await change({ format: 'teams', rate_per_second: null })).toMatchObject({ rate_per_second: null })
})

test('the standard format leaves no trace in the record of an endpoint', async () => {
  const { community, records } = await createTestCommunity()
  const given = { network: '1', url: 'https://example.org/hook', token: 'k' }
  const { id, format } = await community.endpoints.upsert(given)
  expect([format, (await community.endpoints.update('1', id, { format: 'standard' })).format]).toEqual(['standard', 'standard'])
  for (const record of records) {
    expect(record).not.toHaveProperty('format')
    expect(record).not.toHaveProperty('requires')
  }
})

test.each([
  [{ token: 'k' }, 'format slack goes with token null, secrets null and audience integration'],
  [{ token: true, secrets: true }, 'format slack goes with token null, secrets null and audience integration'],
  [{ secrets: 'ed25519' }, 'format slack goes with token null, secrets null and audience integration'],
  [{ audience: 'host' }, 'format slack goes with token null, secrets null and audience integration'],
  [{ format: 'mattermost' }, 'format must be one of standard, slack, teams, discord'],
  [{ url: masked }, 'url is masked: give the whole address'],
] as const)('a channel with %j is refused, new and changed', async (change, message) => {
  const { community } = await createTestCommunity()
  const refused = { status: 422, message: expect.stringContaining(message) }
  await expect(community.endpoints.upsert({ ...channel, ...change } as NewEndpoint)).rejects.toMatchObject(refused)
  const { id } = await community.endpoints.upsert(channel)
  const changed = community.endpoints.update('1', id, change as object)
  // An address that is written back is no change.
  if ('url' in change) expect((await changed).url).toBe(masked)
  else await expect(changed).rejects.toMatchObject(refused)
})

test('a token stays no token of a channel by rotation, and an endpoint with one becomes a channel only without it', async () => {
  const { community } = await createTestCommunity()
  const { id } = await community.endpoints.upsert(channel)
  for (const rotation of [{ token: true }, { secrets: true }] as const)
    await expect(community.endpoints.rotate('1', id, rotation)).rejects.toMatchObject({ status: 422 })
  const signed = await community.endpoints.upsert({ network: '1', url: 'https://example.org/hook', token: true, secrets: true })
  const become = (changes: object) => community.endpoints.update('1', signed.id, { format: 'teams', ...changes })
  await expect(become({})).rejects.toThrow('format teams goes with token null, secrets null')
  expect(await become({ token: null, secrets: null })).toMatchObject({ format: 'teams', url: 'https://example.org/***' })
})

test('the address of a channel is shown nowhere, and what is shown can be written back', async () => {
  const { community, records } = await createTestCommunity()
  const { endpoints } = community
  const added = await endpoints.upsert(channel)
  const written = await endpoints.update('1', added.id, { format: 'slack', url: added.url, name: 'Team' })
  expect(records.at(-1)).toMatchObject({ url, name: 'Team' })
  const other = await endpoints.update('1', added.id, { url: `${url}2` })
  expect(records.at(-1)).toMatchObject({ url: `${url}2` })
  await expect(endpoints.update('1', added.id, { format: 'standard' })).rejects.toThrow('url must be given again')
  await expect(endpoints.update('1', added.id, { format: 'standard', url: masked })).rejects.toThrow('url must be given again')
  await expect(endpoints.upsert({ ...channel, url: `${url}2`, audience: 'host' })).rejects.toThrow()
  const shown = [
    added,
    written,
    other,
    await endpoints.list('1'),
    await endpoints.find('1', added.id),
    await endpoints.disable('1', added.id),
  ]
  const removed = await endpoints.remove('1', added.id)
  const { items } = await community.audit.list({ network: '1' })
  expect(JSON.stringify([shown, removed, items])).not.toContain(token)
  expect(items.find(({ action, details }) => action === 'endpoint.updated' && 'url' in details)?.details).toEqual({
    url: { from: masked, to: masked },
  })
})
