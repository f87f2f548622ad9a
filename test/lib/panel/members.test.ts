/** The page of members: who has left and who is banned, a ban that is lifted, a person who is erased. */
import { describe, expect, test } from 'vitest'
import { memberFilterFields } from '../../../lib/host/members/search.ts'
import { admin, createTestPanel } from './support.ts'

async function panelWithBanned(...given: Parameters<typeof createTestPanel>) {
  const run = await createTestPanel(...given)
  const { community } = run
  const create = (first_name: string, last_name: string, email: string) =>
    community.call('members.create', { network: '1', body: { email, first_name, last_name } })
  const grace = await create('Grace', '<b>Hopper</b>', 'grace@example.org')
  const noor = await create('نور', 'الدين', 'noor@example.org')
  const space = await community.call('spaces.create', { network: '1', body: { name: 'Garden' } })
  const params = { space_id: space.id, user_id: grace.id }
  await community.call('space_members.ban', { network: '1', params, body: { ban_reason: 'Sold <i>watches</i>' } })
  const stateOf = async (id: string) => (await community.members.list('1', { q: id })).items[0]?.state
  return { ...run, grace: String(grace.id), noor: String(noor.id), stateOf }
}

test('the list shows names in their own direction, states, and why, when and by whom someone was banned', async () => {
  const { get, grace, noor } = await panelWithBanned()
  const { status, text } = await get('1/members')
  expect(status).toBe(200)
  expect(text).toContain('<bdi dir="auto">نور الدين</bdi>')
  expect(text).toContain('Grace &lt;b&gt;Hopper&lt;/b&gt;')
  expect(text).toContain('Sold &lt;i&gt;watches&lt;/i&gt;')
  expect(text).toMatch(/by <a href="[^"]*"><bdi dir="auto">Ada Host<\/bdi>/)
  expect(text).toContain('grace@example.org')
  expect(text).toContain(`members/${grace}/unban`)
  expect(text).not.toContain(`members/${noor}/unban`)
  expect(text).toContain(`members/${noor}/erase`)
  expect(text).toMatch(/<a href="\.\.\/1\/members" aria-current="page">Members<\/a>/)
})

test('filter and order have the words of the columns', async () => {
  const { get } = await panelWithBanned()
  const { text } = await get('1/members')
  for (const words of ['>Joined after<', '>Joined before<', '>Joined, descending<', '<th scope="col">Joined</th>'])
    expect(text).toContain(words)
})

test('states and a search choose, together, and a page leads to the next one', async () => {
  const { get, community } = await panelWithBanned()
  const namesIn = (text: string) =>
    [...text.matchAll(/<th scope="row"><span class="url">(?:<input [^>]*> ?)?<a [^>]*><bdi dir="auto">([^<]*)/g)].map(
      ([, name]) => name,
    )
  expect(namesIn((await get('1/members?state=banned')).text)).toEqual(['Grace &lt;b&gt;Hopper&lt;/b&gt;'])
  expect(namesIn((await get('1/members?state=active&q=HOST')).text)).toEqual(['Ada Host'])
  const none = await get('1/members?state=removed&q=host')
  expect(none.text).toContain('No member here')
  expect(none.text).toContain('value="host"')
  for (let n = 0; n < 26; n++) {
    const body = { email: `m${n}@example.org`, first_name: `Member${n}`, last_name: 'Many' }
    await community.call('members.create', { network: '1', body })
  }
  const first = (await get('1/members?q=many')).text
  expect(namesIn(first)).toHaveLength(25)
  const [, older = ''] = /<a href="\.\.\/([^"]*after=\d+)">Older/.exec(first.replaceAll('&amp;', '&')) ?? []
  expect(older).toContain('q=many')
  const second = (await get(older)).text
  expect(namesIn(second)).toEqual(['Member0 Many'])
  expect(second).toContain('Newest')
})

test('every filter of the API is a field, chosen by name, and narrows the list and its count', async () => {
  const { get, community, grace, noor } = await panelWithBanned()
  const network = '1'
  const tag = await community.call('tags.create', { network, body: { title: 'Gardener & more' } })
  await community.call('member_tags.create', { network, params: { member_id: noor }, body: { tag_id: tag.id } })
  const { text } = await get('1/members')
  const fields = [...text.matchAll(/<(?:select|input) id="(\w+)" name="\1"/g)].map(([, name]) => name)
  expect(fields).toEqual([...Object.keys(memberFilterFields).filter((name) => name !== 'state'), 'sort', 'act'])
  expect(text).toContain(`<option value="${tag.id}" >Gardener &amp; more</option>`)
  expect(text).toContain('3 members')
  const idsIn = (page: string) => [...page.matchAll(/<code class="keep">(\d+)<\/code>/g)].map(([, id]) => id)
  const tagged = (await get(`1/members?tag_id=${tag.id}`)).text
  expect(idsIn(tagged)).toEqual([noor])
  expect(tagged).toContain('1 member<')
  expect(tagged).toContain(`<option value="${tag.id}" selected>`)
  expect(tagged).toContain(`members?state=banned&amp;tag_id=${tag.id}"`)
  expect(idsIn((await get(`1/members?tag_id=${tag.id}&role=host`)).text)).toEqual([])
  expect(idsIn((await get('1/members?created_before=2026-11-20T09:59')).text)).toEqual([])
  expect(idsIn((await get('1/members?created_after=2026-11-20T10:00')).text)).toHaveLength(3)
  expect(idsIn((await get('1/members?sort=name')).text)[1]).toBe(grace)
})

test('a sorted list has pages that keep filter and order', async () => {
  const { get, community } = await panelWithBanned()
  for (let n = 10; n < 40; n++) {
    const body = { email: `m${n}@example.org`, first_name: `Member${n}`, last_name: 'Many' }
    await community.call('members.create', { network: '1', body })
  }
  const namesIn = (text: string) => [...text.matchAll(/dir="auto">(Member\d+) Many/g)].map(([, name]) => name)
  const first = (await get('1/members?sort=-name&q=many')).text
  expect(first).toContain('30 members')
  const [, next = ''] = /<a href="\.\.\/([^"]*after=[^"]+)">Next/.exec(first.replaceAll('&amp;', '&')) ?? []
  const second = (await get(next)).text
  expect(second).toContain('>First</a>')
  const all = Array.from({ length: 30 }, (_, n) => `Member${39 - n}`)
  expect([...new Set([...namesIn(first), ...namesIn(second)])]).toEqual(all)
})

test('a filter that cannot be is a 422, with its words still there', async () => {
  const { get } = await panelWithBanned()
  expect((await get('1/members?state=gone')).status).toBe(422)
  expect((await get('1/members?state=banned&state=active')).status).toBe(422)
  expect((await get('1/members?after=x')).status).toBe(422)
  for (const query of ['role=queen', 'sort=age', 'tag_id=x', 'plan_id=1&plan_id=2', 'created_after=never', 'role=toString']) {
    const { status, text } = await get(`1/members?${query}`)
    expect([query, status, text.includes(`id="${query.split('=')[0]}-wrong"`)]).toEqual([query, 422, true])
    expect(text).not.toContain('<tbody>')
  }
  const long = await get(`1/members?q=${'x'.repeat(201)}`)
  expect(long.status).toBe(422)
  expect(long.text).toContain('id="q-wrong"')
})

test('a ban is lifted by a question and its confirmation, once, and the audit names the visitor', async () => {
  const { get, post, grace, stateOf, community } = await panelWithBanned()
  const question = (await get(`1/members/${grace}/unban`)).text
  expect(question).toContain('Lift the ban?')
  expect(question).toContain('Sold &lt;i&gt;watches&lt;/i&gt;')
  expect(await stateOf(grace)).toBe('banned')
  for (let times = 0; times < 2; times++) {
    const { status, headers } = await post(`1/members/${grace}/unban`)
    expect({ status, location: headers.get('location') }).toEqual({
      status: 303,
      location: `../../../1/members/${grace}?done=unban`,
    })
  }
  expect(await stateOf(grace)).toBe('removed')
  expect((await get(`1/members/${grace}?done=unban`)).text).toContain('The ban is lifted')
  expect((await get(`1/members/${grace}/unban`)).status).toBe(303)
  const { items } = await community.audit.list({ network: '1', action: 'member.unbanned' })
  expect(items).toMatchObject([{ actor: admin.actor, subject: { id: grace } }])
})

test('a person is erased after a question that says so, and their row has no name', async () => {
  const { get, post, grace, noor, stateOf } = await panelWithBanned()
  const active = (await get(`1/members/${noor}/erase`)).text
  for (const part of ['Erase this person?', 'The member is active', 'noor@example.org']) expect(active).toContain(part)
  expect(active).not.toContain('stays banned')
  expect((await get(`1/members/${grace}/erase`)).text).toContain('The address stays banned')
  expect(await stateOf(noor)).toBe('active')
  for (const id of [grace, noor])
    for (let times = 0; times < 2; times++) {
      const { status, headers } = await post(`1/members/${id}/erase`)
      expect({ status, location: headers.get('location') }).toEqual({
        status: 303,
        location: `../../../1/members/${id}?done=erase`,
      })
    }
  const { text } = await get('1/members')
  for (const gone of ['Hopper', 'نور', 'noor@', 'grace@', 'watches', `members/${noor}/erase`]) expect(text).not.toContain(gone)
  expect(text).toContain(`member ${noor}`)
  expect(text).toContain(`members/${grace}/unban`)
  expect((await get(`1/members/${noor}/erase`)).status).toBe(303)
})

test('the last host is refused in a sentence, and so is a member who is not there', async () => {
  const { post, get, owner } = await panelWithBanned()
  const refused = await post(`1/members/${owner.id}/erase`)
  expect(refused.status).toBe(422)
  expect(refused.text).toContain('last host')
  for (const id of ['99', 'x', '9'.repeat(30), 'grace@example.org']) {
    for (const verb of ['unban', 'erase']) {
      expect((await get(`1/members/${id}/${verb}`)).status).toBe(404)
      expect((await post(`1/members/${id}/${verb}`)).status).toBe(404)
    }
  }
})

describe('permissions', () => {
  test('a reader sees the list and no way to change it, and is refused', async () => {
    const { get, post, grace, stateOf } = await panelWithBanned({ ...admin, access: 'read' })
    const { text } = await get('1/members')
    expect(text).toContain('Hopper')
    expect(text).not.toMatch(/\/(?:unban|erase)"/)
    for (const verb of ['unban', 'erase']) {
      expect((await get(`1/members/${grace}/${verb}`)).status).toBe(403)
      expect((await post(`1/members/${grace}/${verb}`)).status).toBe(403)
    }
    expect(await stateOf(grace)).toBe('banned')
  })

  test('who may only lift bans does not erase', async () => {
    const { get, post, grace } = await panelWithBanned({ ...admin, access: ['members.unban'] })
    const { text } = await get('1/members')
    expect(text).toContain(`members/${grace}/unban`)
    expect(text).not.toMatch(/\/erase"/)
    expect((await post(`1/members/${grace}/erase`)).status).toBe(403)
    expect((await post(`1/members/${grace}/unban`)).status).toBe(303)
  })

  test('a visitor of another network finds no one', async () => {
    const { get, post, grace } = await panelWithBanned({ ...admin, networks: ['2'] })
    expect((await get('1/members')).status).toBe(404)
    expect((await get('2/members')).text).not.toContain('Hopper')
    expect((await post(`2/members/${grace}/erase`)).status).toBe(404)
  })
})

test('masked fields are dots here, too', async () => {
  const { get, grace } = await panelWithBanned(admin, { maskedFields: ['email', 'first_name', 'ban_reason'] })
  for (const path of ['1/members', `1/members/${grace}/unban`, `1/members/${grace}/erase`]) {
    const { text } = await get(path)
    for (const hidden of ['grace@example.org', 'Grace', 'watches', 'Ada Host'])
      expect([path, text.includes(hidden)]).toEqual([path, false])
    expect(text).toContain('•••')
  }
})
