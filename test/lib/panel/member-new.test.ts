/** A member is added in the panel, or a person invited. */
import { expect, test } from 'vitest'
import { admin, createTestPanel } from './support.ts'

const linesOf = async ({ community }: Awaited<ReturnType<typeof createTestPanel>>) =>
  (await community.audit.list({ network: '1' })).items
    .filter(({ actor }) => actor === admin.actor)
    .map(({ action, subject }) => ({ action, subject }))

test('a member is added with a role, with a welcome mail only if it is ticked', async () => {
  const run = await createTestPanel()
  const { get, post, community, events } = run
  expect((await get('1/members')).text).toContain('members/new"')
  expect((await get('1/members/new')).text).toContain('Send a welcome mail')
  const grace = { email: ' grace@example.org ', first_name: 'Grace', last_name: 'Hopper', role: 'moderator' }
  const { status, headers } = await post('1/members/new', grace)
  const [member] = (await community.members.list('1', { q: 'grace@example.org' })).items
  expect(member).toMatchObject({ first_name: 'Grace', role: 'moderator', state: 'active' })
  expect({ status, location: headers.get('location') }).toEqual({
    status: 303,
    location: `../../1/members/${member?.id}?done=new`,
  })
  expect((await get(`1/members/${member?.id}?done=new`)).text).toContain('The member is added')
  await post('1/members/new', { ...grace, email: 'ben@example.org', role: '', send_welcome_email: '1' })
  expect(events('host').map(({ event_type, payload }) => [event_type, payload.email])).toEqual([
    ['WelcomeEmailRequestedHook', 'ben@example.org'],
  ])
  const [line] = (await linesOf(run)).slice(-1)
  expect(line).toEqual({ action: 'member.added', subject: { type: 'member', id: member?.id, name: 'Grace Hopper' } })
})

test('a person is invited, and the audit does not have the address', async () => {
  const run = await createTestPanel()
  const { get, post, community } = run
  const fields = { recipient_email: 'grace@example.org', recipient_first_name: 'Grace', recipient_last_name: '' }
  expect((await post('1/members/invite', fields)).headers.get('location')).toBe('../../1/members?done=invited')
  expect((await get('1/members?done=invited')).text).toContain('The person is invited')
  const { items } = await community.call('invites.list', { network: '1' })
  expect(items).toMatchObject([fields])
  expect(await linesOf(run)).toEqual([{ action: 'member.invited', subject: { type: 'network', id: '1', name: null } }])
  expect(JSON.stringify(await community.audit.list({ network: '1' }))).not.toContain('grace@')
})

test.each([
  ['new', { email: 'x', first_name: '', last_name: '<b>' }, ['email', 'first_name']],
  ['new', { email: 'host@example.org', first_name: 'Ada', last_name: '<b>' }, ['email']],
  ['invite', { recipient_email: 'x', recipient_first_name: '<b>' }, ['recipient_email']],
  ['invite', { recipient_email: 'host@example.org', recipient_first_name: '<b>' }, ['recipient_email']],
] as const)('%s with %o is refused next to its fields, which keep their values', async (verb, fields, wrong) => {
  const run = await createTestPanel()
  const { status, text } = await run.post(`1/members/${verb}`, fields)
  expect(status).toBe(422)
  expect([...text.matchAll(/id="(\w+)-wrong"/g)].map(([, name]) => name)).toEqual(wrong)
  expect(text).toContain('value="&lt;b&gt;"')
  expect(await linesOf(run)).toEqual([])
})

test('the list offers both to those who may', async () => {
  const { get } = await createTestPanel({ ...admin, access: ['members.invite'] })
  const { text } = await get('1/members')
  expect([text.includes('members/invite"'), text.includes('members/new"')]).toEqual([true, false])
})
