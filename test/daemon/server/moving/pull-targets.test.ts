import { join } from 'node:path'
import { expect, test } from 'vitest'
import { toNodeListener } from '../../../../adapters/http/node.ts'
import { memoryStorage } from '../../../../adapters/storage/memory.ts'
import { openStorage } from '../../../../daemon/server/storage/open.ts'
import type { Storage } from '../../../../lib/storage/contract.ts'
import { temporaryDirectory } from '../../../support/directory.ts'
import { onLoopback } from '../../../support/on-loopback.ts'
import { testPostgres } from '../../../support/postgres.ts'
import { folkmoot } from '../../../support/program.ts'
import { createSeededCommunity } from '../../../support/seed.ts'
import { wrappedStorage } from '../../../support/storage.ts'
import { otherServer, recordsAt } from './other-server.ts'
import { consent, everything, given, pullFrom } from './support.ts'

const postgres = await testPostgres()

const addresses = {
  lowdb: () => `lowdb:${join(temporaryDirectory(), 'db.json')}`,
  sqlite: () => `sqlite:${join(temporaryDirectory(), 'db.sqlite')}`,
  postgres: () => `${postgres.url}?schema=${postgres.newSchema()}`,
}

async function within<T>(address: string, work: (storage: Storage) => Promise<T>): Promise<T> {
  const { storage } = await openStorage(address, undefined, () => {})
  try {
    return await work(storage)
  } finally {
    await storage.close()
  }
}

type List = {
  readonly list: string
  readonly read: number
  readonly added: number
  readonly changed: number
  readonly removed: number
}
const changesIn = (text: string): readonly string[] =>
  JSON.parse(text).lists.flatMap(({ list, added, changed, removed }: List) => (added + changed + removed > 0 ? [list] : []))

for (const [engine, newAddress] of Object.entries(addresses))
  test(`a network arrives whole in ${engine}, after a cut, and a later run brings what changed`, async () => {
    const source = await createSeededCommunity({ storage: memoryStorage(), allowHttp: true })
    await consent(source.storage, true)
    const url = await onLoopback(toNodeListener(source.community))
    const to = newAddress()
    let writes = 0
    await within(to, async (storage) => {
      const breaking = wrappedStorage(storage, {
        transaction: (work, options) => {
          if (!options?.readOnly && ++writes === 12) throw new Error('the power went')
          return storage.transaction(work, options)
        },
      })
      await expect(pullFrom(source, breaking, { from: `${url} network 1` })).rejects.toThrow('the power went')
    })
    const pull = () => folkmoot('pull', '--from', url, '--network', '1', '--token', source.token, '--to', to, '--json')
    const first = await pull()
    expect([first.refused, JSON.parse(first.lines.join('')).resumed]).toEqual([undefined, true])
    expect(await within(to, given)).toEqual(await given(source.storage))

    await source.send('members.update', { params: { id: '104' }, body: { last_name: 'L.' } })
    await source.send('tags.delete', { params: { id: '304' } })
    await source.send('comments.create', { params: { post_id: '402' }, body: { text: 'Late' } })
    expect(changesIn((await pull()).lines.join(''))).toEqual(['members', 'tags', 'posts', 'comments'])
    expect(await within(to, given)).toEqual(await given(source.storage))
  })

test('a server that is not folkmoot gives all of its records, and a true report', async () => {
  const url = await otherServer()
  const to = addresses.sqlite()
  const pull = () => folkmoot('pull', '--from', url, '--network', '42', '--token', 'elsewhere', '--to', to, '--json')
  const { lines, refused, failed } = await pull()
  expect([refused, failed]).toEqual([undefined, true])
  const report = JSON.parse(lines.join(''))
  const read = Object.fromEntries(
    report.lists.map(({ list, read: some, left, unread }: List & { left: number; unread: string | null }) => [
      list,
      unread ?? (left > 0 ? `${some}, ${left} left` : some),
    ]),
  )
  expect(read).toEqual({
    members: 23,
    collections: 1,
    spaces: 3,
    'members of spaces': 10,
    'custom fields': 1,
    tags: 100,
    badges: 0,
    options: 0,
    posts: 12,
    polls: 2,
    events: 1,
    courseworks: 0,
    comments: 230,
    rsvps: 0,
    'reactions to posts': 1,
    'reactions to comments': 0,
    plans: 1,
    'ended subscriptions': 'missing',
    subscriptions: 'missing',
    purchases: 'missing',
    'members of plans': 2,
    'invites to plans': 'missing',
    invites: 'missing',
    'abuse reports': 'refused',
    'tags of members': 2,
    'badges of members': 0,
    answers: 0,
  })
  expect(report.addresses).toBe('masked')
  const rows = await within(to, everything)
  const countOf = (table: string) => rows[table]?.length
  expect([countOf('members'), countOf('posts'), countOf('comments'), countOf('segments')]).toEqual([
    ...[recordsAt('/members'), recordsAt('/posts'), recordsAt('/posts/300/comments'), recordsAt('/tags')],
  ])
  const row = (table: string, id: string) => rows[table]?.find((one) => one.id === id)
  expect(row('members', '102')).toMatchObject({
    email: 'person2@elsewhere.test',
    last_name: '',
    created_at: '2026-03-19T08:00:00.000Z',
  })
  expect(row('members', '103')).toMatchObject({ role: 'host', bio: 'Hello' })
  expect(row('posts', '300')).toMatchObject({ post_type: 'post', images: [], space_id: '200', creator_id: '100' })
  expect(row('posts', '309')).toMatchObject({
    poll_type: 'hot_cold_poll',
    choices: [
      { id: 'x1', text: 'Hot' },
      { id: 'x2', text: 'Cold' },
    ],
  })
  expect(row('comments', '410')).toMatchObject({ reply_to_id: '409', depth: 2, author_id: '110' })
  expect(changesIn((await pull()).lines.join(''))).toEqual([])
})
