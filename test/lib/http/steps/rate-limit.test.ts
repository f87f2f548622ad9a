import { expect, test } from 'vitest'
import { memoryStorage } from '../../../../adapters/storage/memory.ts'
import { createCommunity, type RateLimiter } from '../../../../lib/index.ts'
import type { Storage } from '../../../../lib/storage/contract.ts'
import { networks } from '../../../../lib/storage/tables/administration.ts'
import { createTestCommunity, request, type TestCommunity } from '../../../support/community.ts'

/** Counts in a map; the minute ends 12.4 seconds from now, always. */
function counting() {
  const counts = new Map<string, number>()
  const limiter: RateLimiter = {
    async count(key, perMinute) {
      const used = (counts.get(key) ?? 0) + 1
      counts.set(key, used)
      return { allowed: used <= perMinute, remaining: Math.max(0, perMinute - used), resetSeconds: 12.4 }
    },
  }
  return { counts, limiter }
}

const limitsOf = (headers: Headers) => ({
  limit: headers.get('ratelimit-limit'),
  remaining: headers.get('ratelimit-remaining'),
  reset: headers.get('ratelimit-reset'),
})

const onPlan = async (test: TestCommunity, service_plan: 'standard' | 'premium' | 'unlimited') => {
  await test.storage.transaction((tx) => tx.update(networks, '1', { service_plan }))
}

const perMinute = { standard: 2, premium: 3, unlimited: null }

test('every response has the number of requests left, and one too many is a 429', async () => {
  const { limiter } = counting()
  const community = await createTestCommunity({ rateLimiter: limiter, limits: { perMinute } })
  await onPlan(community, 'standard')
  const [first, second, third] = [
    await community.send('tags.list'),
    await community.send('tags.show', { params: { id: 'none' } }),
    await community.send('tags.list'),
  ]
  expect({ status: first.status, ...limitsOf(first.headers) }).toEqual({ status: 200, limit: '2', remaining: '1', reset: '13' })
  expect({ status: second.status, ...limitsOf(second.headers) }).toEqual({ status: 404, limit: '2', remaining: '0', reset: '13' })
  expect({ status: third.status, ...limitsOf(third.headers), retryAfter: third.headers.get('retry-after') }).toEqual({
    status: 429,
    limit: '2',
    remaining: '0',
    reset: '13',
    retryAfter: '13',
  })
  expect(third.body).toEqual({
    error: 'rate limit exceeded',
    message: 'More than 2 requests in a minute. Wait 13 seconds.',
    status: 429,
  })
  expect(third.headers.get('retry-after')).toMatch(/^\d+$/)
})

test('the plan of the network sets the limit, and `unlimited` has none', async () => {
  const { limiter, counts } = counting()
  const community = await createTestCommunity({ rateLimiter: limiter, limits: { perMinute } })
  await onPlan(community, 'premium')
  expect(limitsOf((await community.send('tags.list')).headers)).toEqual({ limit: '3', remaining: '2', reset: '13' })
  await onPlan(community, 'unlimited')
  expect(limitsOf((await community.send('tags.list')).headers)).toEqual({ limit: null, remaining: null, reset: null })
  expect([...counts.values()]).toEqual([1])
})

test('each token is counted on its own', async () => {
  const { limiter } = counting()
  const community = await createTestCommunity({ rateLimiter: limiter, limits: { perMinute } })
  await onPlan(community, 'standard')
  const other = community.sendAs(await community.newToken(['*']))
  for (const _ of [1, 2, 3]) await community.send('tags.list')
  expect((await community.send('tags.list')).status).toBe(429)
  expect((await other('tags.list')).status).toBe(200)
})

test('requests without a known token are not counted', async () => {
  const { limiter, counts } = counting()
  const community = await createTestCommunity({ rateLimiter: limiter, limits: { perMinute } })
  await onPlan(community, 'standard')
  await community.sendAs('fmt_nobody')('tags.list')
  expect(counts.size).toBe(0)
})

test('a request over the limit does nothing', async () => {
  const rateLimiter: RateLimiter = { count: async () => ({ allowed: false, remaining: 0, resetSeconds: 0 }) }
  const community = await createTestCommunity({ rateLimiter, limits: { perMinute: { ...perMinute, unlimited: 1 } } })
  const refused = await community.send('tags.create', { body: { title: 'x' } })
  expect({ status: refused.status, retryAfter: refused.headers.get('retry-after') }).toEqual({ status: 429, retryAfter: '1' })
  expect((await community.community.call('tags.list', { network: '1' })).items).toEqual([])
})

test('closing the community closes the rate limiter first, and then the storage', async () => {
  const closed: string[] = []
  const memory = memoryStorage()
  const storage: Storage = {
    transaction: (work, options) => memory.transaction(work, options),
    close: async () => void closed.push('storage'),
  }
  const rateLimiter: RateLimiter = { ...counting().limiter, close: async () => void closed.push('rate limiter') }
  await createCommunity({ storage, rateLimiter }).close()
  expect(closed).toEqual(['rate limiter', 'storage'])
})

test("a key on another network's address is counted, whether there is such a network or not", async () => {
  const { limiter, counts } = counting()
  const { community, token, network, ...it } = await createTestCommunity({ rateLimiter: limiter, limits: { perMinute } })
  await onPlan({ community, token, network, ...it }, 'standard')
  const owner = { email: 'b@example.org', first_name: 'B', last_name: 'B' }
  await community.networks.create({ id: '2', subdomain: 'other', title: 'Other', owner })
  const responses = []
  for (const id of ['2', '3', '2'])
    responses.push(
      await request(community, 'GET', `/admin/v1/networks/${id}/tags`, { headers: { authorization: `Bearer ${token}` } }),
    )
  expect(responses.map(({ status }) => status)).toEqual([404, 404, 429])
  expect(responses[0]?.body).toEqual(responses[1]?.body)
  expect([...counts.values()]).toEqual([3])
})
