/** A page that the database writes itself has the same values as one that is made of rows. */
import { expect, test } from 'vitest'
import { scoped } from '../../lib/storage/scoped.ts'
import { networks } from '../../lib/storage/tables/administration.ts'
import { members } from '../../lib/storage/tables/members.ts'
import { createSeededCommunity } from '../support/seed.ts'

const odd = [
  {
    first_name: '"Ada" \\',
    last_name: '– 漢字 😀',
    bio: 'one\ntwo\ttab \u0001 \u007f \u2028 </script>',
    avatar: '/assets/a b.png',
  },
  { first_name: "it's", last_name: '', bio: null, avatar: 'https://cdn.example/ä.png', commercial_email_consent: true },
  { first_name: 'x'.repeat(50_000), last_name: '€'.repeat(20_000), commercial_email_consent: true },
  {
    first_name: 'Cat',
    last_name: 'Egory',
    categories: [
      { id: '31', title: 'Painters – "all"' },
      { id: '32', title: 'Sea' },
    ],
    referral_count: 7,
  },
]

test.each(['string', 'number'] as const)('members, ids as %ss, with and without their addresses', async (ids) => {
  const { community, send, storage } = await createSeededCommunity({ ids })
  await storage.transaction(async (tx) => {
    const network = scoped(tx, '1')
    const stamp = { created_at: '2026-01-01T00:00:00.000Z', updated_at: '2026-01-02T00:00:00.000Z' }
    for (const [place, values] of odd.entries())
      await network.insert(members, {
        ...stamp,
        id: String(900_001 + place),
        email: `${place}@odd.example`,
        email_key: `${place}@odd.example`,
        ...values,
      })
  })
  for (const member_email_visibility of [true, false]) {
    await storage.transaction((tx) => tx.update(networks, '1', { member_email_visibility }))
    for (const per_page of [2, 100]) {
      let query: Record<string, string | number> = { per_page }
      for (let pages = 0; pages < 20; pages++) {
        const { body, headers } = await send('members.list', { query })
        const direct = await community.call('members.list', { network: '1', query })
        expect(body.items).toEqual(direct.items)
        expect(Object.keys(body.items[0])).toEqual(Object.keys(direct.items[0] ?? {}))
        expect(headers.get('content-type')).toBe('application/json; charset=utf-8')
        if (body.links.next === null) {
          expect(direct.links.next).toBe(null)
          break
        }
        query = Object.fromEntries(new URL(body.links.next).searchParams)
        expect(Object.fromEntries(new URL(direct.links.next ?? '').searchParams)).toEqual(query)
      }
    }
  }
  expect((await send('members.list', { query: { page: 9_000_000_000_000 } })).body).toMatchObject({
    items: [],
    links: { next: null },
  })
  expect((await send('members.list', { query: { page: 50 } })).body.items).toEqual([])
})

test('a host with its own permalinks sees them in lists', async () => {
  const { send } = await createSeededCommunity({ permalink: ({ kind, id }) => `https://own.example/${kind}?n=${Number(id) + 1}` })
  const { body } = await send('members.list', { query: { per_page: 1 } })
  expect(body.items[0].permalink).toBe(`https://own.example/members?n=${Number(body.items[0].id) + 1}`)
})
