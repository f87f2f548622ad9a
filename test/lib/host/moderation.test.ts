/** What an admin does to keep a network in order: merge tags, close reports, look at the whole. */
import { describe, expect, test } from 'vitest'
import { createTestCommunity, type TestCommunity } from '../../support/community.ts'
import { createMembers } from '../../support/members.ts'
import { newComment, newPost, newSpace, now, typesOf } from '../../support/records.ts'

const network = '1'

describe('merging tags', () => {
  async function withTags(run: TestCommunity, holders: number) {
    const { community } = run
    const [from, into] = await Promise.all(
      ['Gardener', 'gardening'].map((title) => community.call('tags.create', { network, body: { title } })),
    )
    if (!from || !into) throw new Error('two tags are made')
    const people = await createMembers(run, ...Array.from({ length: holders }, (_, n) => `m${n}`))
    const give = (member: { id: string } | undefined, tag_id: string) =>
      community.call('member_tags.create', { network, params: { member_id: member?.id ?? '' }, body: { tag_id } })
    for (const person of people) await give(person, from.id)
    await give(people[0], into.id)
    run.newEvents()
    return { from, into, people }
  }

  test('gives its holders the other tag once, deletes it, and is audited', async () => {
    const run = await createTestCommunity()
    const { from, into, people } = await withTags(run, 3)
    const merged = await run.community.by({ actor: 'ada' }).tags.merge('demo', from.id, into.id)
    expect(merged).toEqual({ id: into.id, title: 'gardening', member_count: 3, moved: 3 })
    const types = typesOf(run.newEvents()).toSorted()
    expect(types).toEqual([...Array(2).fill('MemberTagAddedHook'), ...Array(3).fill('MemberTagRemovedHook')])
    const left = await run.community.tags.list(network)
    expect(left.items).toMatchObject([{ id: into.id, member_count: 3 }])
    for (const { id: member_id } of people) {
      const { items } = await run.community.call('member_tags.list', { network, params: { member_id } })
      expect(items.map(({ id }) => id)).toEqual([into.id])
    }
    const [line] = (await run.community.audit.list({ network })).items
    const subject = { type: 'tag', id: into.id, name: 'gardening' }
    const details = { merged: { id: from.id, title: 'Gardener' }, moved: 3 }
    expect(line).toMatchObject({ action: 'tag.merged', actor: 'ada', subject, details })
  })

  test('goes some members at a time, and says how many', async () => {
    const run = await createTestCommunity()
    const { from, into } = await withTags(run, 101)
    const seen: number[] = []
    expect(await run.community.tags.merge(network, from.id, into.id, (moved) => seen.push(moved))).toMatchObject({ moved: 101 })
    expect(seen).toEqual([50, 100, 101])
  })

  test('in both directions at the same time ends, and one more merge leaves one tag', async () => {
    const run = await createTestCommunity()
    const { from, into, people } = await withTags(run, 120)
    const { tags } = run.community
    const ways = await Promise.allSettled([tags.merge(network, from.id, into.id), tags.merge(network, into.id, from.id)])
    const left = (await tags.list(network)).items
    const [one, other] = left
    if (one && other) await tags.merge(network, one.id, other.id)
    expect(ways.filter(({ status }) => status === 'fulfilled')).toHaveLength(2 - left.length)
    expect((await tags.list(network)).items).toMatchObject([{ member_count: people.length }])
  })

  test('begins with a list that names unused tags, page by page', async () => {
    const run = await createTestCommunity()
    const { from, into } = await withTags(run, 1)
    const { community } = run
    const unused = await community.call('tags.create', { network, body: { title: 'Unused' } })
    const counts = async (query: object) =>
      (await community.tags.list('demo', query)).items.map(({ id, member_count }) => [id, member_count])
    expect(await counts({ unused: true })).toEqual([[unused.id, 0]])
    expect(await counts({ kind: 'badge' })).toEqual([])
    expect((await community.tags.list('demo', { limit: 2 })).next).toBe(into.id)
    expect(await counts({ after: from.id })).toEqual([
      [into.id, 1],
      [unused.id, 0],
    ])
  })

  test('needs two tags of the network', async () => {
    const run = await createTestCommunity()
    const { from, into } = await withTags(run, 1)
    const { tags } = run.community
    await expect(tags.merge(network, from.id, from.id)).rejects.toMatchObject({ status: 422 })
    await expect(tags.merge(network, '77', into.id)).rejects.toMatchObject({ status: 404, message: 'Tag not found' })
    await expect(tags.merge(network, from.id, '77')).rejects.toMatchObject({ status: 404, message: 'Tag not found' })
    expect((await tags.list(network)).items.map(({ member_count }) => member_count)).toEqual([1, 1])
    expect(run.newEvents()).toEqual([])
  })
})

describe('making a tag', () => {
  test('is done as the operation does it, with its hook, and audited', async () => {
    const seen: string[] = []
    const run = await createTestCommunity({ hooks: { before: ({ id }) => void seen.push(id) } })
    const made = await run.community.by({ actor: 'ada' }).tags.create('demo', { title: 'Gardener', color: '#00aa00' })
    const [listed] = (await run.community.tags.list(network)).items
    expect(made).toEqual(listed)
    expect(made).toMatchObject({ kind: 'tag', title: 'Gardener', description: null, color: '#00aa00', member_count: 0 })
    expect(seen).toEqual(['tags.create'])
    const [line] = (await run.community.audit.list({ network })).items
    const subject = { type: 'tag', id: made.id, name: 'Gardener' }
    expect(line).toMatchObject({ action: 'tag.created', actor: 'ada', subject, details: { color: '#00aa00' } })
    expect(run.newEvents()).toEqual([])
  })

  test('refuses a title that is taken, other values, and fields that do not exist', async () => {
    const { community } = await createTestCommunity()
    const { tags } = community
    await tags.create(network, { title: 'Gardener' })
    for (const body of [{ title: 'GARDENER' }, { title: '' }, { title: 'Red', color: 'red' }])
      await expect(tags.create(network, body)).rejects.toMatchObject({ status: 422 })
    await expect(tags.create(network, { title: 'Red', colour: '#FF0000' } as never)).rejects.toThrow('did you mean color?')
    expect((await tags.list(network)).items).toHaveLength(1)
    expect((await community.audit.list({ network })).items.filter(({ action }) => action === 'tag.created')).toHaveLength(1)
    expect((await community.preview(({ tags }) => tags.create(network, { title: 'Red' }))).sentence).toMatch(/^1 tag.* is added/)
  })
})

describe('reports', () => {
  async function withReports() {
    const run = await createTestCommunity()
    const { community } = run
    const [grace, ben] = await createMembers(run, 'Grace', 'Ben')
    const space = await newSpace(run)
    const as = ben.id
    const body = { space_id: space.id, title: 'Watches', description: 'Cheap' }
    const post = await community.call('posts.create', { network, as, body })
    const comment = await newComment(run, post.id, '<p>Buy <b>now</b></p>')
    const report = (targetable_type: 'Post' | 'Comment' | 'User', targetable_id: string) =>
      community.notify.abuseReport({ network, member_id: grace.id, targetable_type, targetable_id, report_type: 'spam' })
    run.newEvents()
    return { run, community, grace, ben, post, comment, report }
  }

  test('are listed with what was reported, the newest first, the open ones alone', async () => {
    const { community, grace, ben, post, comment, report } = await withReports()
    const [first, second, third] = [
      await report('Post', post.id),
      await report('Comment', comment.id),
      await report('User', ben.id),
    ]
    const { items, next } = await community.reports.list('demo')
    expect(next).toBeNull()
    expect(items.map(({ id }) => id)).toEqual([third.id, second.id, first.id])
    expect(items[2]).toMatchObject({
      ...{ is_open: true, report_type: 'spam', reporter: { id: grace.id, name: 'Grace Example' } },
      target: { title: 'Watches', author: { id: ben.id, name: 'Ben Example' } },
    })
    expect(items[1]?.target?.text).toBe('Buy now')
    const closed = await community.reports.close('demo', first.id, 'dismiss')
    expect(closed).toMatchObject({ is_open: false, ignored_at: now })
    expect((await community.reports.list('demo')).items).toHaveLength(2)
    expect((await community.reports.list('demo', { state: 'closed' })).items.map(({ id }) => id)).toEqual([first.id])
    const page = await community.reports.list('demo', { limit: 1 })
    expect(page.next).toBe(third.id)
    expect((await community.reports.list('demo', { limit: 1, after: third.id })).items.map(({ id }) => id)).toEqual([second.id])
    await expect(community.reports.close('demo', first.id, 'dismiss')).rejects.toMatchObject({ status: 422 })
  })

  test('about the same content close together when it is deleted', async () => {
    const { community, run, post, report } = await withReports()
    const [first, second] = [await report('Post', post.id), await report('Post', post.id)]
    expect(await community.reports.close('demo', second.id, 'delete_content')).toMatchObject({ is_open: false, target: null })
    expect((await run.send('posts.show', { params: { id: post.id } })).status).toBe(404)
    expect((await community.reports.list('demo')).items).toEqual([])
    await expect(community.reports.close('demo', first.id, 'dismiss')).rejects.toMatchObject({ status: 422 })
    const [line] = (await community.audit.list({ network })).items
    expect(line).toMatchObject({ action: 'report.closed', details: { decision: 'delete_content', reports: 2 } })
  })

  test('close once if two admins close one at the same time', async () => {
    const { community, ben, report } = await withReports()
    const { id } = await report('User', ben.id)
    const both = await Promise.allSettled([1, 2].map(() => community.reports.close('demo', id, 'dismiss')))
    expect(both.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
    const lines = (await community.audit.list({ network })).items.filter(({ action }) => action === 'report.closed')
    expect(lines).toHaveLength(1)
  })

  test('can end in a ban of the author, and a member cannot be deleted as content', async () => {
    const { community, ben, comment, report } = await withReports()
    const { id } = await report('User', ben.id)
    await expect(community.reports.close('demo', id, 'delete_content')).rejects.toMatchObject({ status: 422 })
    await community.reports.close('demo', id, 'ban_author')
    expect(await community.members.get('demo', ben.id)).toMatchObject({ state: 'banned', ban_reason: `Report ${id}: spam` })
    const own = await report('Comment', comment.id)
    await expect(community.reports.close('demo', own.id, 'ban_author')).rejects.toMatchObject({ status: 422 })
    expect((await community.reports.list('demo')).items.map((item) => item.id)).toEqual([own.id])
  })
})

test('the overview counts members, their activity, content, plans and open reports', async () => {
  const run = await createTestCommunity()
  const { community } = run
  const [grace, ben, eve] = await createMembers(run, 'Grace', 'Ben', 'Eve')
  await community.members.remove(network, ben.id)
  run.clock.advance(40 * 24 * 60 * 60 * 1000)
  await createMembers(run, 'Fay')
  await community.members.remove(network, eve.id)
  const space = await newSpace(run)
  const post = await newPost(run, space.id)
  await newComment(run, post.id)
  const report = { network, member_id: grace.id, targetable_type: 'Post', targetable_id: post.id, report_type: 'spam' } as const
  await community.notify.abuseReport(report)
  const { members, ...rest } = await community.overview('demo')
  expect(members).toEqual({ now: 3, thirty_days_ago: 3, joined: 1, left: 1, active_7_days: 0, active_30_days: 0 })
  expect(rest).toEqual({ posts: 1, comments: 1, plans: [], open_reports: 1 })
})
