/** The page of abuse reports: read with what was reported, and closed after a confirmation. */
import { expect, test } from 'vitest'
import { admin, createTestPanel } from './support.ts'

async function panelWithReports(...given: Parameters<typeof createTestPanel>) {
  const run = await createTestPanel(...given)
  const { community, owner } = run
  const network = '1'
  const body = { email: 'ben@example.org', first_name: 'Ben', last_name: '<b>Blue</b>' }
  const ben = String((await community.call('members.create', { network, body })).id)
  const space = await community.call('spaces.create', { network, body: { name: 'Garden' } })
  const post = { space_id: space.id, title: 'Cheap <i>watches</i>', description: '<p>Buy now</p>' }
  const { id: post_id } = await community.call('posts.create', { network, as: ben, body: post })
  const report = async (targetable_type: 'Post' | 'User' | 'Space', targetable_id: string, reason?: string) => {
    const about = { targetable_type, targetable_id, report_type: 'spam', ...(reason ? { reason } : {}) } as const
    return (await community.notify.abuseReport({ network, member_id: owner.id, ...about })).id
  }
  const openOnes = async () => (await community.reports.list('1')).items.map(({ id }) => id)
  return { ...run, ben, post_id: String(post_id), space_id: String(space.id), report, openOnes }
}

test('open reports are read with what was reported, by whom and why', async () => {
  const { get, report, post_id, ben, owner } = await panelWithReports()
  expect((await get('1/reports')).text).toContain('No open report')
  const id = await report('Post', post_id, 'Every <u>day</u>')
  const { status, text } = await get('1/reports')
  expect(status).toBe(200)
  for (const part of ['Cheap &lt;i&gt;watches&lt;/i&gt;', 'Buy now', 'reported as spam', 'Every &lt;u&gt;day&lt;/u&gt;'])
    expect(text).toContain(part)
  for (const person of [ben, owner.id]) expect(text).toContain(`href="../1/members/${person}"`)
  for (const verb of ['dismiss', 'delete_content', 'ban_author']) expect(text).toContain(`reports/${id}/${verb}"`)
  expect((await get('1/reports?state=closed')).text).toContain('No closed report')
})

test('a space and a member offer only what can be done to them', async () => {
  const { get, report, ben, space_id } = await panelWithReports()
  const offered = async (id: string) =>
    [...(await get('1/reports')).text.matchAll(/reports\/(\d+)\/(\w+)"/g)].flatMap(([, of, verb]) => (of === id ? [verb] : []))
  expect(await offered(await report('Space', space_id))).toEqual(['dismiss'])
  expect(await offered(await report('User', ben))).toEqual(['dismiss', 'ban_author'])
})

test.each([
  ['dismiss', /1 abuse report changes; no event/, 'active', 200],
  ['delete_content', /1 post goes/, 'active', 404],
  ['ban_author', /1 member changes/, 'banned', 200],
] as const)('%s is confirmed with its preview, and done once in the name of the visitor', async (verb, preview, state, post) => {
  const { get, post: send, report, post_id, ben, community, openOnes, sendAs, token } = await panelWithReports()
  const id = await report('Post', post_id)
  const question = (await get(`1/reports/${id}/${verb}`)).text
  expect(question).toMatch(preview)
  expect(question).toContain('Cheap &lt;i&gt;watches&lt;/i&gt;')
  expect(await openOnes()).toEqual([id])
  const closed = await send(`1/reports/${id}/${verb}`)
  const location = `../../../1/reports?done=${verb}`
  expect({ status: closed.status, location: closed.headers.get('location') }).toEqual({ status: 303, location })
  expect((await send(`1/reports/${id}/${verb}`)).status).toBe(303)
  expect(await openOnes()).toEqual([])
  expect((await community.members.get('1', ben)).state).toBe(state)
  expect((await sendAs(token)('posts.show', { params: { id: post_id } })).status).toBe(post)
  const { items } = await community.audit.list({ network: '1', action: 'report.closed' })
  expect(items).toMatchObject([{ actor: admin.actor, details: { decision: verb } }])
  const after = (await get(`1/reports?state=closed&done=${verb}`)).text
  expect(after).toContain('class="note good"')
  expect(after).not.toContain(`reports/${id}/`)
})

test('reports have pages, and each opens from every page', async () => {
  const { get, report, ben } = await panelWithReports()
  const ids: string[] = []
  for (let n = 0; n < 26; n++) ids.push(await report('User', ben))
  const first = (await get('1/reports')).text
  const [, older = ''] = /<a href="\.\.\/([^"]*after=\d+)">Older/.exec(first) ?? []
  const second = (await get(older)).text
  expect(second).toContain(`reports/${ids[0]}/dismiss`)
  expect(second).toContain('Newest')
  for (const id of [ids[0], ids[25]]) expect((await get(`1/reports/${id}/dismiss`)).status).toBe(200)
})

test('whoever may only close reports bans nobody, a reader closes none, and masked fields are dots', async () => {
  const closing = await panelWithReports({ ...admin, access: ['reports.close'] })
  const id = await closing.report('Post', closing.post_id)
  const { text } = await closing.get('1/reports')
  expect(text).toContain(`reports/${id}/dismiss`)
  expect(text).not.toContain('ban_author')
  expect((await closing.post(`1/reports/${id}/ban_author`)).status).toBe(403)
  const reading = await panelWithReports(
    { ...admin, access: 'read' },
    { maskedFields: ['first_name', 'title', 'text', 'reason'] },
  )
  await reading.report('Post', reading.post_id, 'Every day')
  await reading.report('User', reading.ben)
  const masked = (await reading.get('1/reports')).text
  for (const hidden of ['Ben', 'watches', 'Buy now', 'Every day', 'Ada Host', 'data-dialog']) expect(masked).not.toContain(hidden)
})

test('what is no open report is not found, and a state that is none is a 422', async () => {
  const { get, report, post_id, community } = await panelWithReports()
  const id = await report('Post', post_id)
  for (const wrong of ['99', 'x', '9007199254740991', '9'.repeat(30), '__proto__'])
    expect([wrong, (await get(`1/reports/${wrong}/dismiss`)).status]).toEqual([wrong, 404])
  expect((await get(`2/reports/${id}/dismiss`)).status).toBe(404)
  await community.reports.close('1', id, 'dismiss')
  expect((await get(`1/reports/${id}/dismiss`)).status).toBe(404)
  for (const query of ['state=gone', 'state=open&state=closed', 'after=x'])
    expect((await get(`1/reports?${query}`)).status).toBe(422)
})
