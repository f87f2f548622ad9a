import { expect, test } from 'vitest'
import { admin, createTestPanel } from './support.ts'

const tokenIn = (text: string): string => /<code id="token">(fmt_\w+)<\/code>/.exec(text)?.[1] ?? ''

test('a key made by a form is shown once, works, and stops at once when it is revoked', async () => {
  const { get, post, sendAs, community } = await createTestPanel()
  const made = await post('1/keys', [
    ['name', 'Mail sync'],
    ['access', 'chosen'],
    ['scopes', 'members:read'],
    ['scopes', 'tags:write'],
  ])
  expect(made.status).toBe(201)
  const token = tokenIn(made.text)
  expect((await sendAs(token)('members.list')).status).toBe(200)
  expect((await sendAs(token)('posts.list')).status).toBe(403)

  const listed = (await get('1/keys')).text
  expect(listed).toContain('Mail sync')
  expect(listed).toContain('members:read, tags:write')
  expect(listed).toContain('Ada Host')
  expect(listed).not.toContain(token)

  const key = (await community.keys.list('1')).find(({ name }) => name === 'Mail sync')
  expect((await get(`1/keys/${key?.id}/revoke`)).text).toContain('Revoke “Mail sync”?')
  const revoked = await post(`1/keys/${key?.id}/revoke`)
  expect({ status: revoked.status, location: revoked.headers.get('location') }).toEqual({
    status: 303,
    location: '../../../1/keys?done=revoked',
  })
  expect((await sendAs(token)('members.list')).status).toBe(401)
  const after = (await get('1/keys')).text
  expect(after).toContain('Revoked')
  expect(after).not.toContain(`keys/${key?.id}/revoke`)
})

test('a refused form keeps its values and shows each problem beside its field', async () => {
  const { post, community } = await createTestPanel()
  const before = (await community.keys.list('1')).length
  const { status, text } = await post('1/keys', [
    ['name', ''],
    ['access', 'chosen'],
    ['member_id', 'nobody@example.org'],
    ['expires_at', '2001-01-01'],
  ])
  expect(status).toBe(422)
  expect(text).toMatch(/<p class="wrong" id="member_id-wrong">Member_id must be a member: nobody has this address<\/p>/)
  expect(text).toContain('value="nobody@example.org"')

  const second = (await post('1/keys', { name: '', expires_at: '2001-01-01' })).text
  for (const name of ['name', 'scopes', 'expires_at']) expect(second).toContain(`id="${name}-wrong"`)
  expect(await community.keys.list('1')).toHaveLength(before)
})

test('a key may act for a member by address and end on a day', async () => {
  const { post, community } = await createTestPanel()
  await post('1/keys', { name: 'Until', access: '*:read', member_id: 'host@example.org', expires_at: '2100-02-28' })
  const key = (await community.keys.list('1')).find(({ name }) => name === 'Until')
  expect(key).toMatchObject({ scopes: ['*:read'], expires_at: '2100-02-28T23:59:59.999Z' })
})

test('an empty list shows the next step', async () => {
  const { get } = await createTestPanel()
  const { text } = await get('2/keys')
  expect(text).toContain('No key yet')
  expect(text).toContain('../2/keys/new')
})

test('a reader sees the keys, and no way to change them', async () => {
  const { get } = await createTestPanel({ ...admin, access: 'read' })
  const { text } = await get('1/keys')
  expect(text).toContain('read only')
  expect(text).not.toContain('keys/new')
  expect(text).not.toContain('/revoke')
  expect((await get('1/keys/new')).status).toBe(403)
})
