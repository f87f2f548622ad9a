/** One act for many members in the panel: ticked ones, or all of a filter. */
import { expect, test } from 'vitest'
import { admin, createTestPanel } from './support.ts'

async function panelWithMembers(...given: Parameters<typeof createTestPanel>) {
  const run = await createTestPanel(...given)
  const { community } = run
  const ids: string[] = []
  for (const name of ['Grace', 'Ben', 'Eve']) {
    const body = { email: `${name.toLowerCase()}@example.org`, first_name: name, last_name: 'Test' }
    ids.push(String((await community.call('members.create', { network: '1', body })).id))
  }
  const tag = await community.call('tags.create', { network: '1', body: { title: 'Founder <b>' } })
  const holders = async () => (await community.members.list('1', { tag_id: tag.id })).items.map(({ first_name }) => first_name)
  return { ...run, ids, tag, holders }
}

test('ticked members get a tag: chosen by name, previewed, done once it is confirmed', async () => {
  const { get, post, ids, tag, holders, community } = await panelWithMembers()
  const list = (await get('1/members')).text
  for (const id of ids) expect(list).toContain(`form="bulk" name="id" value="${id}"`)
  const ticked = `1/members/bulk?act=tag&id=${ids[0]}&id=${ids[1]}`
  const choice = await get(ticked)
  expect(choice.text).toContain(`<option value="${tag.id}"`)
  expect(choice.text).toContain('Founder &lt;b&gt;')
  const confirmation = await get(`${ticked}&about=${tag.id}`)
  expect(confirmation.text).toContain('Give a tag: 2 members')
  expect(confirmation.text).toMatch(/Preview: .*2 tags or badges of members are added.*nothing was changed/)
  expect(await holders()).toEqual([])
  const done = await post(`${ticked}&about=${tag.id}`, {})
  expect(done.text).toContain('2 done, 0 refused.')
  expect(await holders()).toEqual(['Ben', 'Grace'])
  const [line] = (await community.audit.list({ network: '1' })).items
  expect(line).toMatchObject({ action: 'members.bulk', details: { done: 2 } })
})

test('all members of a filter are banned, and the last host is named with the reason', async () => {
  const { get, post, community } = await panelWithMembers()
  const path = '1/members/bulk?act=ban&all=1&state=active'
  expect((await get(path)).text).toContain('Ban: 4 members')
  const done = await post(path, {})
  expect(done.text).toContain('3 done, 1 refused.')
  expect(done.text).toContain('This is the last host')
  expect((await community.members.list('1', { state: 'banned' })).items).toHaveLength(3)
})

test('no tick and no such act are a 422', async () => {
  const { get, community } = await panelWithMembers()
  expect((await get('1/members/bulk?act=ban')).status).toBe(422)
  expect((await get('1/members/bulk?act=erase&all=1')).status).toBe(422)
  expect((await community.members.list('1', { state: 'banned' })).items).toEqual([])
})

test('who may not ban sees no ban, and cannot do it', async () => {
  const access = ['members.bulk', 'members.remove'] as const
  const { get, post, ids, community } = await panelWithMembers({ ...admin, access })
  expect((await get('1/members')).text).not.toContain('<option value="ban"')
  expect((await post(`1/members/bulk?act=ban&id=${ids[0]}`, {})).status).toBe(403)
  expect((await community.members.list('1', { state: 'banned' })).items).toEqual([])
})
