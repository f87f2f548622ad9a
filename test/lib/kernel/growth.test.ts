/** The cost of refusing a text, a path or a header grows with its length, never with the square of it. */
import { expect, test } from 'vitest'
import { createTestCommunity } from '../../support/community.ts'

const short = 1_000
const long = 100_000

/** Texts on which a careless pattern looks at every place once for every other place. */
const texts: readonly ((length: number) => string)[] = [
  (length) => '<'.repeat(length),
  (length) => '<a '.repeat(length / 3),
  (length) => `${' '.repeat(length)}x`,
  (length) => `a@${'a.'.repeat(length / 2)}`,
  (length) => `a@${'a-'.repeat(length / 2)}`,
  (length) => `${'1'.repeat(length)}x`,
  (length) => '\r\n'.repeat(length / 2),
  (length) => `${'👩‍'.repeat(length / 3)}x`,
  (length) => '+49 '.repeat(length / 4),
  (length) => '\u0301'.repeat(length),
  (length) => `https://${'a/../'.repeat(length / 5)}`,
  (length) => '2026-'.repeat(length / 5),
  (length) => '-'.repeat(length),
]

/** Milliseconds of processor time, which do not depend on what else the machine does. */
async function cost(work: () => unknown): Promise<number> {
  const begin = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(begin)
  return (user + system) / 1000
}

/** A hundred times the length may cost a thousand times as much; the square of it would be ten thousand. */
async function expectLinear(name: string, work: (length: number) => unknown): Promise<void> {
  let [few, much] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY]
  for (let round = 0; round < 5; round++) {
    await work(short)
    // The least of each, in turn: what else this process does costs processor time too.
    few = Math.min(few, await cost(() => work(short)))
    much = Math.min(much, await cost(() => work(long)))
    if (much < 1_000 * Math.max(few, 0.05)) return
  }
  expect(`${name}: ${Math.round(much / Math.max(few, 0.05))} times the cost`).toBe('at most 1000 times the cost')
}

const tags = '/admin/v1/networks/1/tags'

test('paths and headers, before a token is looked at and after', async () => {
  const { community, token } = await createTestCommunity()
  const call = (path: string, headers: Readonly<Record<string, string>> = {}, search = '', method = 'GET') =>
    community.serve({
      method,
      path,
      search,
      secure: true,
      header: (name) => ({ authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers })[name] ?? null,
      read: async () => new TextEncoder().encode('{"title":"Oil"}'),
    })
  const cases: Readonly<Record<string, (length: number) => unknown>> = {
    'is it ours': (length) => community.owns(`${'/'.repeat(length)}x`),
    slashes: (length) => call(`${'/'.repeat(length)}x`),
    'slashes at the end': (length) => call(tags + '/'.repeat(length)),
    'slashes before the end': (length) => call(`${tags}${'/'.repeat(length)}x`),
    'slashes behind an id': (length) => call(`${tags}/1${'/'.repeat(length)}x`),
    segments: (length) => call(tags + '/x'.repeat(length / 2)),
    'a long id': (length) => call(`${tags}/${'x'.repeat(length)}`),
    'blanks in Authorization': (length) => call(tags, { authorization: `Bearer${' '.repeat(length)},` }),
    'blanks behind a token': (length) => call(tags, { authorization: `Bearer ${'x'.repeat(500)}${' '.repeat(length)},` }),
    'plusses in Content-Type': (length) => call(tags, { 'content-type': `application/${'a+'.repeat(length / 2)}x` }, '', 'POST'),
    'blanks in Content-Type': (length) => call(tags, { 'content-type': `${' '.repeat(length)}x` }, '', 'POST'),
    'a long Host': (length) => call(tags, { host: `${'a.'.repeat(length / 2)}/` }),
    'a long list of forwarded hosts': (length) => call(tags, { 'x-forwarded-host': 'a, '.repeat(length / 3) }),
    'slashes with an Idempotency-Key': (length) =>
      call(tags + '/'.repeat(length), { 'idempotency-key': `key ${length}` }, '', 'POST'),
    'a long page': (length) => call(tags, {}, `?page=${'1'.repeat(length)}`),
    'a long address': (length) => call('/admin/v1/networks/1/members/by_email', {}, `?email=${'a.'.repeat(length / 2)}`),
  }
  for (const [name, work] of Object.entries(cases)) await expectLinear(name, work)
})

test('every field of every body', async () => {
  const { community } = await createTestCommunity()
  for (const { id, body } of community.operations) {
    const names = body && 'entries' in body ? Object.keys(body.entries as object) : []
    for (const name of names)
      await expectLinear(`${id} ${name}`, (length) => {
        for (const text of texts) body?.['~run']({ value: { [name]: text(length) } }, {})
      })
  }
})
