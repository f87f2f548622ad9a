/** The page of tags and badges: counted, changed, merged and deleted. */
import { expect, test } from 'vitest'
import type { Visitor } from '../../../lib/panel/index.ts'
import { admin, createTestPanel } from './support.ts'

const network = '1'

async function panelWithTags(...given: Parameters<typeof createTestPanel>) {
  const run = await createTestPanel(...given)
  const { community, owner } = run
  const create = async (title: string, color?: string) =>
    String((await community.call('tags.create', { network, body: { title, ...(color ? { color } : {}) } })).id)
  const [gardener, gardening, unused] = [
    await create('Gardener', '#00AA00'),
    await create('<i>gardening</i>'),
    await create('Old'),
  ]
  await community.call('member_tags.create', { network, params: { member_id: owner.id }, body: { tag_id: gardener } })
  await community.call('member_tags.create', { network, params: { member_id: owner.id }, body: { tag_id: gardening } })
  const titles = async () => (await community.tags.list('1')).items.map(({ title, member_count }) => [title, member_count])
  const lines = async () =>
    (await community.audit.list({ network })).items
      .filter(({ actor }) => actor === admin.actor)
      .map(({ action, subject, details }) => ({ action, subject, details }))
  return { ...run, gardener, gardening, unused, titles, lines }
}

test('tags are listed with their counts and colours, and unused ones are named', async () => {
  const { get, gardener, unused } = await panelWithTags()
  const { status, text } = await get('1/labels')
  expect(status).toBe(200)
  for (const part of ['&lt;i&gt;gardening&lt;/i&gt;', `members?tag_id=${gardener}">1<`, 'fill="#00AA00"', 'unused</span>'])
    expect(text).toContain(part)
  const few = (await get('1/labels?kind=tag&unused=1')).text
  expect(few).toContain(`labels/tag/${unused}/delete`)
  expect(few).not.toContain(`labels/tag/${gardener}/`)
  expect((await get('1/labels?kind=badge')).text).toContain('No badge')
  for (const query of ['kind=option', 'kind=toString', 'after=x']) expect((await get(`1/labels?${query}`)).status).toBe(422)
})

test('a tag is renamed and gets another colour, and a wrong value is refused next to its field', async () => {
  const { get, post, gardener, titles, lines } = await panelWithTags()
  const path = `1/labels/tag/${gardener}/edit`
  expect((await get(path)).text).toContain('value="#00AA00"')
  const wrong = await post(path, { title: 'old', color: 'green' })
  expect(wrong.status).toBe(422)
  expect(wrong.text).toContain('id="color-wrong"')
  expect(wrong.text).toContain('value="old"')
  const taken = await post(path, { title: 'OLD', color: '' })
  expect([taken.status, taken.text.includes('id="title-wrong"')]).toEqual([422, true])
  expect(await lines()).toEqual([])
  const saved = await post(path, { title: 'Grows things', color: '' })
  expect(saved.headers.get('location')).toBe('../../../../1/labels?kind=tag&done=saved')
  expect((await titles())[0]).toEqual(['Grows things', 1])
  const subject = { type: 'tag', id: gardener, name: 'Gardener' }
  expect(await lines()).toEqual([{ action: 'tag.updated', subject, details: { title: 'Grows things', color: null } }])
})

test('a tag is added with a colour, and a wrong value is refused next to its field', async () => {
  const { get, post, titles, lines, community } = await panelWithTags()
  expect((await get('1/labels')).text).toContain('labels/new"')
  expect((await get('1/labels/new')).text).toContain('<h1>Add a tag</h1>')
  const wrong = await post('1/labels/new', { title: 'Baker', color: 'green' })
  expect([wrong.status, wrong.text.includes('id="color-wrong"'), wrong.text.includes('value="Baker"')]).toEqual([422, true, true])
  const taken = await post('1/labels/new', { title: 'OLD', color: '' })
  expect([taken.status, taken.text.includes('id="title-wrong"')]).toEqual([422, true])
  expect([(await titles()).length, await lines()]).toEqual([3, []])
  const added = await post('1/labels/new', { title: 'Baker', color: '#00aa00' })
  expect(added.headers.get('location')).toBe('../../1/labels?kind=tag&done=added')
  expect((await get('1/labels?kind=tag&done=added')).text).toContain('The tag is added.')
  const made = (await community.tags.list('1')).items.at(-1)
  expect(made).toMatchObject({ title: 'Baker', color: '#00aa00', member_count: 0 })
  const subject = { type: 'tag', id: made?.id, name: 'Baker' }
  expect(await lines()).toEqual([{ action: 'tag.created', subject, details: { color: '#00aa00' } }])
})

test('of more tags than fit into a choice any can be merged into, by the id that the list shows', async () => {
  const { get, gardener, community } = await panelWithTags()
  for (let n = 0; n < 999; n++) await community.call('tags.create', { network, body: { title: `Tag ${n}` } })
  const last = await community.call('tags.create', { network, body: { title: 'The last one' } })
  expect((await get(`1/labels?unused=1&after=${Number(last.id) - 1}`)).text).toContain(`<code class="keep">${last.id}</code>`)
  const path = `1/labels/tag/${gardener}/merge`
  expect((await get(path)).text).toMatch(/<label for="into">[^<]*\(id\)<\/label>\s*<input id="into"/)
  expect((await get(`${path}?into=${last.id}`)).text).toContain('The last one')
})

test('a tag is merged into another after a choice and a preview', async () => {
  const { get, post, gardener, gardening, titles, lines } = await panelWithTags()
  const path = `1/labels/tag/${gardener}/merge`
  const choice = (await get(path)).text
  expect(choice).toContain(`<option value="${gardening}"`)
  expect(choice).not.toContain(`<option value="${gardener}"`)
  const question = (await get(`${path}?into=${gardening}`)).text
  for (const part of ['“<bdi>Gardener</bdi>”', '&lt;i&gt;gardening&lt;/i&gt;', 'Preview: ', '1 tag or badge of a member goes'])
    expect(question).toContain(part)
  expect((await titles()).length).toBe(3)
  expect((await post(`${path}?into=${gardening}`)).headers.get('location')).toBe('../../../../1/labels?kind=tag&done=merged')
  expect(await titles()).toEqual([
    ['<i>gardening</i>', 1],
    ['Old', 0],
  ])
  expect(await lines()).toMatchObject([{ action: 'tag.merged', subject: { id: gardening } }])
  expect((await get('1/labels?done=merged')).text).toContain('The tags are merged')
  for (const into of ['', '99', 'x', gardening])
    expect([404, 422]).toContain((await post(`1/labels/tag/${gardening}/merge?into=${into}`)).status)
})

test('a tag is deleted after a preview, in the name of the visitor', async () => {
  const { get, post, gardener, titles, lines } = await panelWithTags()
  const path = `1/labels/tag/${gardener}/delete`
  expect((await get(path)).text).toMatch(/Preview: [^.]*1 event[^.]*nothing was changed/)
  expect((await titles()).length).toBe(3)
  expect((await post(path)).status).toBe(303)
  expect((await titles()).length).toBe(2)
  expect(await lines()).toEqual([
    { action: 'tag.deleted', subject: { type: 'tag', id: gardener, name: 'Gardener' }, details: {} },
  ])
  expect((await post(path)).status).toBe(404)
})

test('what is no tag or badge of the network is not found', async () => {
  const { get, gardener } = await panelWithTags()
  for (const of of [
    `badge/${gardener}`,
    `option/${gardener}`,
    `toString/${gardener}`,
    'tag/99',
    'tag/x',
    `tag/${'9'.repeat(30)}`,
  ])
    for (const verb of ['edit', 'delete', 'merge']) expect([of, (await get(`1/labels/${of}/${verb}`)).status]).toEqual([of, 404])
  expect((await get(`2/labels/tag/${gardener}/edit`)).status).toBe(404)
})

test('a visitor sees the changes that they may make', async () => {
  const offered = async (access: Visitor['access']) => {
    const { get } = await panelWithTags({ ...admin, access })
    return new Set(
      [...(await get('1/labels')).text.matchAll(/labels\/(?:tag\/\d+\/)?(edit|merge|delete|new)/g)].map(([, verb]) => verb),
    )
  }
  expect(await offered('read')).toEqual(new Set())
  expect(await offered(['tags.create'])).toEqual(new Set(['new']))
  expect(await offered(['tags.merge'])).toEqual(new Set(['merge']))
  expect(await offered(['tags.update', 'tags.delete'])).toEqual(new Set(['edit', 'delete']))
})
