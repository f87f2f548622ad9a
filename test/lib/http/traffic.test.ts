import { expect, test } from 'vitest'
import { rateLimits } from '../../../adapters/rate-limits/index.ts'
import { trafficCounter } from '../../../lib/http/traffic.ts'
import { manualClock } from '../../support/clock.ts'
import { createTestCommunity } from '../../support/community.ts'

const hour = 60 * 60 * 1000

test('requests are counted by hour and key, with those that were refused', async () => {
  const { community, send, sendAs, clock, newToken } = await createTestCommunity()
  await send('tags.list')
  clock.advance(hour)
  await send('tags.list')
  await send('tags.show', { params: { id: 404 } })
  await sendAs(await newToken(['posts:read']))('tags.list')
  await sendAs('fmt_unknown')('tags.list')
  const { since, hours, keys } = await community.traffic('demo')
  expect([since, hours.length]).toEqual(['2026-11-20T10:00:00.000Z', 24])
  expect(hours.slice(-2)).toEqual([
    { at: '2026-11-20T10:00:00.000Z', requests: 1, refused: 0, failed: 0 },
    { at: '2026-11-20T11:00:00.000Z', requests: 3, refused: 2, failed: 0 },
  ])
  const ids = (await community.keys.list('1')).map(({ id }) => id)
  expect(new Map(keys.map(({ key, requests }) => [key, requests]))).toEqual(new Map(ids.map((id, at) => [id, at === 0 ? 2 : 1])))
})

test('a key shows its use of the rate limit', async () => {
  const { community, send } = await createTestCommunity({ rateLimiter: rateLimits() })
  await community.networks.update('1', { service_plan: 'standard' })
  await send('tags.list')
  await send('tags.list')
  const [use] = (await community.traffic('1')).keys
  expect(use?.limit).toMatchObject({ remaining: (use?.limit?.per_minute ?? 0) - 2 })
})

test('an hour of the day before makes room, also after a day without requests', () => {
  const clock = manualClock()
  const { count, of } = trafficCounter(clock)
  const sum = () => of('1').hours.reduce((all, { requests }) => all + requests, 0)
  for (let at = 0; at < 30; at++) {
    count('1', 'k', 500, {})
    clock.advance(hour)
  }
  expect(sum()).toBe(23)
  clock.advance(3 * hour)
  count('1', 'k', 200, {})
  expect([sum(), of('1').hours.at(-1)]).toEqual([21, expect.objectContaining({ requests: 1, failed: 0 })])
  clock.advance(50 * hour)
  expect(sum()).toBe(0)
  count('1', 'k', 200, {})
  expect(sum()).toBe(1)
})

test('networks and keys are bounded, and those that were used last are kept', () => {
  const clock = manualClock()
  const { count, of } = trafficCounter(clock)
  for (let id = 0; id < 1100; id++) count(String(id), 'k', 200, {})
  const last = (network: string) => of(network).hours.at(-1)?.requests
  expect([last('0'), last('99'), last('100'), last('1099')]).toEqual([0, 0, 1, 1])
  for (let key = 0; key < 200; key++) count('1099', `key ${key}`, 200, {})
  expect(of('1099').keys).toHaveLength(50)
})
