/** One act for many members, by a filter or by a list. */
import { expect, test } from 'vitest'
import { createTestCommunity } from '../../support/community.ts'
import { createMembers } from '../../support/members.ts'
import { newSpace, typesOf } from '../../support/records.ts'

const network = '1'

async function withMembers(...names: string[]) {
  const run = await createTestCommunity()
  const people = await createMembers(run, ...names)
  const tag = await run.community.call('tags.create', { network, body: { title: 'Gardener' } })
  run.newEvents()
  const holders = async () =>
    (await run.community.members.list(network, { tag_id: tag.id })).items.map(({ first_name }) => first_name)
  return { run, bulk: run.community.members.bulk, people, tag, holders }
}

test('members of a filter get a tag with the events of each, and it is one line of the audit', async () => {
  const { run, bulk, tag, holders } = await withMembers('Grace', 'Ben', 'Eve')
  const report = await bulk('demo', { filter: { q: 'example', role: 'contributor' } }, { tag: tag.id }, { task: 'June' })
  expect(report).toEqual({ done: 3, refused: 0, refusals: [], missing: [] })
  expect(await holders()).toEqual(['Eve', 'Ben', 'Grace'])
  expect(typesOf(run.newEvents())).toEqual(Array(3).fill('MemberTagAddedHook'))
  const [line] = (await run.community.audit.list({ network })).items
  expect(line).toMatchObject({ action: 'members.bulk', details: { act: { tag: tag.id }, done: 3, refused: 0, task: 'June' } })
  await bulk('demo', { filter: { tag_id: tag.id } }, { untag: tag.id })
  expect(await holders()).toEqual([])
})

test('a list of addresses or ids is taken as it comes, and what no member has is named', async () => {
  const { bulk, people, tag, holders } = await withMembers('Grace', 'Ben', 'Eve')
  const addresses = ['GRACE@example.org', 'who@example.org', 'grace@example.org']
  expect(await bulk(network, { addresses }, { tag: tag.id })).toMatchObject({ done: 1, missing: ['who@example.org'] })
  expect(await bulk(network, { ids: [people[1].id, '77'] }, { tag: tag.id })).toMatchObject({ done: 1, missing: ['77'] })
  expect(await holders()).toEqual(['Ben', 'Grace'])
})

test('a member who is refused stops no other, and is named with the reason', async () => {
  const { run, bulk } = await withMembers('Grace', 'Ben')
  const report = await bulk(network, { filter: { state: 'active' } }, { ban: { reason: 'Spam' } })
  expect(report).toMatchObject({ done: 2, refused: 1, refusals: [{ id: run.owner.id, name: 'Ada Host' }] })
  expect(report.refusals[0]?.reason).toMatch(/^This is the last host/)
  expect((await run.community.members.list(network, { state: 'banned' })).items).toHaveLength(2)
})

test('hundreds are removed some at a time, with progress, and it can be stopped', async () => {
  const { run, bulk } = await withMembers(...Array.from({ length: 120 }, (_, n) => `m${n}`))
  const stop = new AbortController()
  const seen: number[] = []
  const onProgress = ({ done }: { done: number }) => {
    seen.push(done)
    if (done === 100) stop.abort()
  }
  const report = await bulk(network, { filter: { role: 'contributor' } }, { remove: {} }, { onProgress, signal: stop.signal })
  expect(seen).toEqual([50, 100])
  expect(report.done).toBe(100)
  expect((await run.community.members.list(network, { state: 'active', limit: 100 })).items).toHaveLength(21)
})

test('every act is in the name of the one who did it: in the audit, and in the timeline of each member', async () => {
  const { run, people, tag } = await withMembers('Grace')
  const ids = [people[0].id]
  const { members, tags } = run.community.by({ actor: 'ada' })
  await members.bulk(network, { ids }, { tag: tag.id })
  const other = await run.community.call('tags.create', { network, body: { title: 'Other' } })
  await tags.merge(network, tag.id, other.id)
  await members.bulk(network, { ids }, { ban: {} })
  const { timeline } = await run.community.members.get(network, people[0].id)
  expect(timeline.items.map(({ action, actor }) => [action, actor])).toEqual(
    expect.arrayContaining([
      ['member.banned', 'ada'],
      ['MemberTagRemoved', 'ada'],
      ['MemberTagAdded', 'ada'],
      ['MemberJoined', expect.not.stringMatching('ada')],
    ]),
  )
  expect(timeline.items.filter(({ action }) => action === 'MemberTagAdded')).toHaveLength(2)
})

test('consent is recorded for many, with the events of each', async () => {
  const { run, bulk, people } = await withMembers('Grace', 'Ben')
  expect(await bulk(network, { filter: { role: 'contributor' } }, { consent: true })).toMatchObject({ done: 2 })
  expect(typesOf(run.newEvents())).toEqual(['MemberUpdatedHook', 'MemberUpdatedHook'])
  expect(await run.community.members.get(network, people[0].id)).toMatchObject({ commercial_email_consent: true })
  expect(await bulk(network, { ids: [people[0].id] }, { consent: false })).toMatchObject({ done: 1 })
  expect(await run.community.members.get(network, people[0].id)).toMatchObject({ commercial_email_consent: false })
})

test('a long list is taken some at a time, each address once', async () => {
  const { run, bulk, tag } = await withMembers(...Array.from({ length: 130 }, (_, n) => `m${n}`))
  const addresses = Array.from({ length: 130 }, (_, n) => [`m${n}@example.org`, `M${n}@EXAMPLE.org`]).flat()
  const seen: number[] = []
  const report = await bulk(network, { addresses }, { tag: tag.id }, { onProgress: ({ done }) => seen.push(done) })
  expect([report.done, seen]).toEqual([130, [50, 100, 130]])
  expect(run.newEvents()).toHaveLength(130)
})

test('it can be previewed', async () => {
  const { run, tag, holders } = await withMembers('Grace', 'Ben')
  const preview = await run.community.preview(({ members }) =>
    members.bulk(network, { filter: { role: 'contributor' } }, { tag: tag.id }),
  )
  expect(preview.result).toMatchObject({ done: 2 })
  expect(preview.events).toEqual({ MemberTagAddedHook: 2 })
  expect(await holders()).toEqual([])
})

test('members join a space once, and what does not exist is refused before anything is done', async () => {
  const { run, bulk } = await withMembers('Grace', 'Ben')
  const space = await newSpace(run)
  for (let times = 0; times < 2; times++)
    expect(await bulk(network, { filter: { role: 'contributor' } }, { space: space.id })).toMatchObject({ done: 2, refused: 0 })
  await expect(bulk(network, { filter: {} }, { tag: '77' })).rejects.toMatchObject({ status: 404, message: 'Tag not found' })
  await expect(bulk(network, { filter: {} }, {})).rejects.toMatchObject({ status: 422 })
  await expect(bulk(network, { filter: {}, ids: [] } as never, { tag: '77' })).rejects.toMatchObject({ status: 422 })
})

test('a selection or an act that is wrong as a whole is named as such, and not as a body', async () => {
  const { bulk, tag } = await withMembers()
  const both = { ids: ['1'], addresses: ['a@example.org'] } as never
  await expect(bulk(network, both, { tag: tag.id })).rejects.toThrow(/^the selection must have one of filter, ids and addresses$/)
  await expect(bulk(network, { ids: ['1'] }, {} as never)).rejects.toThrow(/^the act must have one of tag, untag, /)
  await expect(bulk(network, { id: '1' } as never, { tag: tag.id })).rejects.toThrow(
    'the selection: field `id` does not exist; did you mean ids?; the selection must have one of filter, ids and addresses',
  )
})

test('an act that is null is refused', async () => {
  const { bulk, people } = await withMembers('Grace')
  for (const act of [{ tag: null }, { ban: null }, { remove: null }, { consent: null }])
    await expect(bulk(network, { ids: [people[0].id] }, act as never)).rejects.toMatchObject({
      status: 422,
      message: expect.stringContaining('must have one of tag, untag'),
    })
})

test('a tag that is deleted meanwhile is given to no one else, and the report says so', async () => {
  const { run, bulk, people, tag } = await withMembers(...Array.from({ length: 210 }, (_, n) => `m${n}`))
  let deleted: Promise<unknown> | undefined
  const onProgress = () => {
    deleted ??= run.community.call('tags.delete', { network, params: { id: tag.id } })
  }
  const report = await bulk(network, { ids: people.map(({ id }) => id) }, { tag: tag.id }, { onProgress })
  await deleted
  expect(report.refusals.at(-1)).toMatchObject({ id: people.at(-1)?.id, reason: 'Tag not found' })
  expect(report.done + report.refused).toBe(210)
})

test('a tag is taken from members who do not have it', async () => {
  const { bulk, people, tag } = await withMembers('Grace', 'Ben')
  await bulk(network, { ids: [people[0].id] }, { tag: tag.id })
  expect(await bulk(network, { ids: people.map(({ id }) => id) }, { untag: tag.id })).toMatchObject({ done: 2, refused: 0 })
})
