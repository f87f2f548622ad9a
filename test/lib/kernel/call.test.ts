import { expect, test } from 'vitest'
import { ApiError, isApiError } from '../../../lib/index.ts'
import { members } from '../../../lib/storage/tables/members.ts'
import { createTestCommunity } from '../../support/community.ts'
import { createSeededCommunity, seeded } from '../../support/seed.ts'

test('a direct call gives what the request would have returned', async () => {
  const { community, send } = await createSeededCommunity()
  const params = { id: seeded.member }
  expect(await community.call('members.show', { network: '1', params })).toEqual((await send('members.show', { params })).body)
  expect(await community.call('members.show', { network: 'demo', params: { id: 101 } })).toEqual(
    (await send('members.show', { params })).body,
  )
})

test('a direct call creates, publishes and commits', async () => {
  const { community, newEvents } = await createSeededCommunity()
  const post = await community.call('posts.create', { network: '1', body: { space_id: seeded.space, title: 'Hello' } })
  expect(post).toMatchObject({ title: 'Hello', space_id: seeded.space })
  expect(newEvents().map(({ event_type, payload }) => [event_type, payload.id])).toEqual([['PostCreatedHook', post.id]])
})

test('a direct call acts for the first host, or for the member that it names', async () => {
  const { community, owner } = await createSeededCommunity()
  const body = { space_id: seeded.space, title: 'Hello' }
  expect((await community.call('posts.create', { network: '1', body })).creator_id).toBe(owner.id)
  expect((await community.call('posts.create', { network: '1', as: seeded.member, body })).creator_id).toBe(seeded.member)
  await expect(community.call('posts.create', { network: '1', as: '77', body })).rejects.toMatchObject({
    status: 404,
    body: { error: 'Member not found' },
  })
})

test('a member who is not there any more cannot act', async () => {
  const { community, storage } = await createSeededCommunity()
  await storage.transaction((tx) => tx.update(members, seeded.member, { state: 'banned' }))
  await expect(community.call('tags.list', { network: '1', as: seeded.member })).rejects.toMatchObject({ status: 404 })
})

test('a direct call refuses as a request does, with an ApiError', async () => {
  const { community } = await createTestCommunity()
  const refusal = async (work: Promise<unknown>) =>
    work.then(
      () => 'no refusal',
      (error: unknown) => (isApiError(error) ? [error instanceof ApiError, error.status, error.body] : error),
    )
  const network = '1'
  expect(await refusal(community.call('tags.show', { network, params: { id: '5' } }))).toEqual([
    true,
    404,
    { error: 'Tag not found' },
  ])
  expect(await refusal(community.call('tags.create', { network, body: { title: '' } }))).toEqual([
    true,
    422,
    { error: "title can't be blank" },
  ])
  expect(await refusal(community.call('tags.list', { network: '2' }))).toEqual([true, 404, { error: 'Network not found' }])
  expect(await refusal(community.call('tags.list', { network, query: { page: 0 } }))).toEqual([
    true,
    400,
    { error: 'page must be a whole number from 1' },
  ])
})

test('a direct call pages like a request', async () => {
  const { community } = await createSeededCommunity({ publicUrl: 'https://community.example.org', basePath: '/api' })
  const first = await community.call('tags.list', { network: '1', query: { per_page: 2 } })
  expect(first.items.map(({ title }) => title)).toEqual(['Gardener', 'Cook'])
  const next = new URL(first.links.next ?? '')
  expect(next.origin + next.pathname).toBe('https://community.example.org/api/admin/v1/networks/1/tags')
  const second = await community.call('tags.list', { network: '1', query: Object.fromEntries(next.searchParams) })
  expect(second.items.map(({ title }) => title)).toEqual(['Reader', 'Singer'])
  expect(second.links.next).toBeNull()
})

test('a query parameter that is undefined counts as left out', async () => {
  const { community } = await createSeededCommunity()
  const whole = await community.call('posts.list', { network: '1' })
  const query = { space_id: undefined, page: undefined }
  expect((await community.call('posts.list', { network: '1', query })).items).toEqual(whole.items)
})

test('a direct call of an unknown operation is refused with a sentence', async () => {
  const { community } = await createTestCommunity()
  await expect(community.call('tags.paint' as 'tags.list', { network: '1' })).rejects.toThrow(
    'there is no operation "tags.paint"',
  )
  await expect(community.call('tags.creat' as 'tags.list', { network: '1' })).rejects.toThrow(
    'there is no operation "tags.creat"; did you mean tags.create',
  )
})

test('a call that returns nothing gives undefined', async () => {
  const { community } = await createSeededCommunity()
  const call = community.call('post_reactions.delete', { network: '1', params: { post_id: seeded.post } })
  expect(await call).toBeUndefined()
})
