/** The page of a member, and what is done there: each after a confirmation with its preview. */
import { describe, expect, test } from 'vitest'
import { deliveryOf, relayOf } from './relay.ts'
import { admin, createTestPanel } from './support.ts'

async function panelWithGrace(...given: Parameters<typeof createTestPanel>) {
  const run = await createTestPanel(...given)
  const { community } = run
  const network = '1'
  const body = { email: 'grace@example.org', first_name: 'Grace', last_name: '<b>Hopper</b>' }
  const { id } = await community.call('members.create', { network, body })
  const grace = String(id)
  const space = await community.call('spaces.create', { network, body: { name: 'Garden' } })
  const params = { space_id: space.id }
  await community.call('space_members.create', { network, params, query: { user_id: grace } })
  const tag = await community.call('tags.create', { network, body: { title: 'Founder', color: '#00AA00' } })
  await community.call('member_tags.create', { network, params: { member_id: grace }, body: { tag_id: tag.id } })
  const post = { space_id: space.id, title: 'Roses & <i>thorns</i>', description: 'x' }
  await community.call('posts.create', { network, as: grace, body: post })
  const stateOf = async () => (await community.members.get('1', grace)).state
  return { ...run, grace, stateOf, page: `1/members/${grace}` }
}

test('the page shows what belongs to a member, counted, and links on', async () => {
  const { get, page, grace, community } = await panelWithGrace()
  await community.by({ actor: 'ben@example.org' }).members.changeRole('1', grace, 'moderator')
  const { status, text } = await get(page)
  expect(status).toBe(200)
  expect(text).toContain('<h1><bdi dir="auto">Grace &lt;b&gt;Hopper&lt;/b&gt;</bdi></h1>')
  for (const part of ['grace@example.org', 'Garden', 'Founder', 'Roses &amp; &lt;i&gt;thorns', 'moderator, full member'])
    expect(text).toContain(part)
  for (const title of ['Spaces', 'Tags', 'Posts']) expect(text).toContain(`<h2>${title} <span class="badge">1</span></h2>`)
  expect(text).toContain('None: plans, subscriptions, purchases, badges, answers, invites, comments, RSVPs, keys, reports.')
  expect(text).toMatch(/changed role \(contributor → moderator\), by <a [^>]*><bdi>ben@example\.org<\/bdi>/)
  expect(text).toContain('<bdi>Grace &lt;b&gt;Hopper&lt;/b&gt;</bdi> got the tag “<bdi>Founder</bdi>”')
  expect(text).toContain(`audit?subject=member%3A${grace}`)
  expect((await get('1/members')).text).toContain(`<a href="../1/members/${grace}">`)
})

test('answers and the reason of a ban are shown, and masked fields are dots', async () => {
  const withPrivate = async (maskedFields: string[]) => {
    const { get, page, grace, community } = await panelWithGrace(admin, { maskedFields })
    const network = '1'
    const body = { title: 'Shoe size', response_type: 'text_short', privacy: 'public', response_by: 'individual_member' } as const
    const field = await community.call('custom_fields.create', { network, body })
    const params = { custom_field_id: field.id, member_id: grace }
    await community.call('answers.upsert', { network, params, body: { text: 'size 38' } })
    const before = (await get(page)).text
    await community.members.ban('1', grace, { reason: 'Sold watches' })
    return before + (await get(page)).text
  }
  const open = await withPrivate([])
  for (const part of ['Shoe size', 'size 38', 'Sold watches', 'was banned']) expect(open).toContain(part)
  const masked = await withPrivate(['email', 'first_name', 'text', 'title', 'ban_reason'])
  for (const hidden of ['grace@', 'Grace', 'size 38', 'Sold watches', 'Roses', 'Ada Host']) expect(masked).not.toContain(hidden)
  expect(masked).toContain('Shoe size')
})

describe.each([
  ['ban', '', 'banned', { reason: 'Sells watches' }],
  ['ban', '?plans=stay', 'banned', {}],
  ['remove', '', 'removed', {}],
  ['remove', '?plans=end', 'removed', {}],
  ['erase', '', 'deleted', {}],
] as const)('%s%s', (verb, query, state, fields) => {
  test('its confirmation shows a preview and changes nothing; then it is done once, in the name of the visitor', async () => {
    const { get, post, page, grace, stateOf, community } = await panelWithGrace()
    const question = await get(`${page}/${verb}${query}`)
    expect(question.text).toMatch(/Preview: [^.]*1 member changes[^.]*1 space membership goes[^.]*; nothing was changed\./)
    expect(await stateOf()).toBe('active')
    for (let times = 0; times < 2; times++) {
      const { status, headers } = await post(`${page}/${verb}${query}`, fields)
      const location = `../../../1/members/${grace}?done=${verb}`
      expect({ status, location: headers.get('location') }).toEqual({ status: 303, location })
    }
    expect(await stateOf()).toBe(state)
    expect((await get(`${page}?done=${verb}`)).text).toContain('class="note good"')
    const { items } = await community.audit.list({ network: '1', subject: { type: 'member', id: grace } })
    expect(items.map(({ actor }) => actor)).toEqual([admin.actor])
  })
})

test('plans end or stay as the address says, and a reason is kept', async () => {
  const { get, post, page, grace, community } = await panelWithGrace()
  const lines = async () => (await community.audit.list({ network: '1', action: 'member.banned' })).items[0]?.details
  expect((await get(`${page}/ban`)).text).toContain('Subscriptions and purchases end.')
  const stay = (await get(`${page}/ban?plans=stay`)).text
  expect(stay).toContain('Subscriptions and purchases stay as they are.')
  expect(stay).toContain(`members/${grace}/ban?plans=end`)
  expect((await get(`${page}/remove`)).text).toContain('Subscriptions and purchases stay as they are.')
  await post(`${page}/ban?plans=stay`, { reason: ' Sells watches ' })
  expect(await lines()).toEqual({ reason: 'Sells watches', cancel_plans: false })
})

test('a role is chosen, previewed and changed', async () => {
  const { get, post, page, grace, community } = await panelWithGrace()
  expect((await get(page)).text).toMatch(/<form method="get" action="[^"]*\/role"[^>]*><select name="role"/)
  const question = (await get(`${page}/role?role=moderator`)).text
  expect(question).toContain('<dt>Now</dt><dd>contributor</dd><dt>Then</dt><dd>moderator</dd>')
  expect(question).toContain('Preview: 1 member changes; 1 event')
  expect((await post(`${page}/role?role=moderator`)).status).toBe(303)
  expect((await community.members.get('1', grace)).role).toBe('moderator')
  for (const query of ['', '?role=queen', '?role=toString']) {
    expect((await get(`${page}/role${query}`)).status).toBe(422)
    expect((await post(`${page}/role${query}`)).status).toBe(422)
  }
})

test.each(['ban', 'remove', 'role?role=contributor', 'erase'])(
  '%s of the last host is refused, and its confirmation says so without a form',
  async (path) => {
    const { get, post, owner } = await panelWithGrace()
    const question = await get(`1/members/${owner.id}/${path}`)
    expect({ status: question.status, hasForm: question.text.includes('<form') }).toEqual({ status: 200, hasForm: false })
    const refused = await post(`1/members/${owner.id}/${path}`)
    expect(refused.status).toBe(422)
    for (const { text } of [question, refused]) expect(text).toContain('last host')
  },
)

test('the page offers what can be done now, to those who may', async () => {
  const { get, page, grace, community } = await panelWithGrace()
  const offered = (text: string) => [...text.matchAll(/\/members\/\d+\/(\w+)"/g)].map(([, verb]) => verb)
  expect(offered((await get(page)).text)).toEqual(['role', 'remove', 'ban', 'erase'])
  await community.members.ban('1', grace)
  expect(offered((await get(page)).text)).toEqual(['unban', 'erase'])
  const reader = await panelWithGrace({ ...admin, access: 'read' })
  expect(offered((await reader.get(reader.page)).text)).toEqual([])
  const some = await panelWithGrace({ ...admin, access: ['members.remove'] })
  expect(offered((await some.get(some.page)).text)).toEqual(['remove'])
})

test('a member of another network and one who is not there are not found', async () => {
  const { get, page } = await panelWithGrace()
  for (const path of [
    page.replace('1/', '2/'),
    '1/members/99',
    '1/members/x',
    `1/members/${'9'.repeat(30)}`,
    '1/members/__proto__',
  ])
    expect([path, (await get(path)).status]).toEqual([path, 404])
})

describe('the newest deliveries about a member', () => {
  const joined = deliveryOf('j1', { event_type: 'MemberJoinedHook', state: 'dead', last_outcome: 'status', last_status: 500 })

  test('are shown with their states, and link on', async () => {
    const many = [joined, ...Array.from({ length: 10 }, (_, at) => deliveryOf(`d${at}`, { event_type: 'MemberUpdatedHook' }))]
    const relay = relayOf({ 1: many })
    const { get, page, grace } = await panelWithGrace({ ...admin, access: 'read' }, { relay })
    const { text } = await get(page)
    expect(relay.filters).toEqual([{ subject: `member:${grace}` }])
    expect(text).toMatch(/<a href="[^"]*1\/deliveries\/j1">MemberJoined<\/a> <span[^>]*>Failed<\/span>/)
    expect([text.includes('deliveries/d8"'), text.includes('deliveries/d9"')]).toEqual([true, false])
    const [, all = ''] = /href="([^"]+)">All deliveries about them/.exec(text) ?? []
    await get(all.replace(/^(?:\.\.\/)+/, ''))
    expect(relay.filters[1]).toEqual({ subject: `member:${grace}` })
  })

  test('may be older than the relay has looked through, or not be there', async () => {
    const shown = async (next: string | null) => {
      const { get, page } = await panelWithGrace(admin, {
        relay: Object.assign(relayOf(), { list: async () => ({ items: [], next }) }),
      })
      return (await get(page)).text
    }
    expect(await shown('5')).toContain('None among the newest deliveries of the network.')
    expect(await shown(null)).toContain('The relay has none about them.')
  })

  test('are left out without a relay, and a relay that is away leaves the page as it is', async () => {
    const without = await panelWithGrace()
    const page = (await without.get(without.page)).text
    expect([page.includes('grace@example.org'), page.includes('>Deliveries</h2>')]).toEqual([true, false])
    const relay = Object.assign(relayOf(), { list: () => Promise.reject(new Error('away')) })
    const away = await panelWithGrace(admin, { relay })
    const { status, text } = await away.get(away.page)
    expect([status, text.includes('grace@example.org')]).toEqual([200, true])
    expect(text).toMatch(/<h2>Deliveries<\/h2><div class="note warn"[^>]*><p>The relay does not respond now\./)
  })
})
