import { expect, test } from 'vitest'
import { createPanel } from '../../../lib/panel/index.ts'
import { admin, createTestPanel } from './support.ts'

const tokenIn = (text: string): string => /id="token"[^>]* value="(fmt_\w+)"/.exec(text)?.[1] ?? ''

test('a key made by a form is shown once, works, and stops immediately when it is revoked', async () => {
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
  const question = (await get(`1/keys/${key?.id}/revoke`)).text
  for (const part of ['Revoke “Mail sync”?', 'Preview: 1 API key changes; no event; nothing was changed.'])
    expect(question).toContain(part)
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

test('a refused form keeps its values and shows each problem next to its field', async () => {
  const { post, community } = await createTestPanel()
  const before = (await community.keys.list('1')).length
  const { status, text } = await post('1/keys', [
    ['name', ''],
    ['access', 'chosen'],
    ['member_id', 'nobody@example.org'],
    ['expires_at', '2001-01-01'],
  ])
  expect(status).toBe(422)
  expect(text).toMatch(/<p class="wrong" id="member_id-wrong">Acts for must be a member: no member has this address<\/p>/)
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

/** The form of a page as a browser would send it, with other values for some of its fields. */
const formIn = (text: string, values: [string, string][]): [string, string][] => [
  ...[...text.matchAll(/<input type="hidden" name="(\w+)" value="([^"]*)"/g)].map(
    ([, name = '', value = '']): [string, string] => [name, value],
  ),
  ...values,
]

test('a form that is sent twice makes one key, and shows its value once, in any process', async () => {
  const { get, post, community, panel } = await createTestPanel()
  const other = createPanel(community, { authorize: () => admin })
  const form = formIn((await get('1/keys/new')).text, [
    ['name', 'Once'],
    ['access', '*'],
  ])
  const init = {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'same-origin' },
    body: new URLSearchParams(form).toString(),
  }
  const sendTo = async (to: typeof panel) => {
    const response = await to(new Request('https://panel.test/admin/panel/1/keys', init))
    return { status: response?.status, text: (await response?.text()) ?? '' }
  }
  const both = await Promise.all([sendTo(panel), sendTo(other), sendTo(other)])
  expect(both.map(({ status }) => status).toSorted()).toEqual([201, 409, 409])
  const again = await post('1/keys', form)
  expect(again.status).toBe(409)
  expect(again.text).toContain('This form was sent before')
  const [made] = both.map(({ text }) => tokenIn(text)).filter((token) => token !== '')
  expect(again.text).not.toContain(made ?? 'no token')
  expect((await community.keys.list('1')).filter(({ name }) => name === 'Once')).toHaveLength(1)
})

test('a refused form is shown again, and can be sent again', async () => {
  const { get, post } = await createTestPanel()
  const first = formIn((await get('1/keys/new')).text, [['name', '']])
  const refused = await post('1/keys', first)
  expect(refused.status).toBe(422)
  const second = formIn(refused.text, [
    ['name', 'Better'],
    ['access', '*'],
  ])
  expect(second[0]).not.toEqual(first[0])
  expect((await post('1/keys', second)).status).toBe(201)
  expect((await post('1/keys', { name: 'x', access: '*', once: 'made up' })).status).toBe(422)
})

test('revoking twice, as by a double click, ends at the list', async () => {
  const { post, community } = await createTestPanel()
  const [key] = await community.keys.list('1')
  for (const _ of [1, 2]) expect((await post(`1/keys/${key?.id}/revoke`)).status).toBe(303)
})

test('the list has pages of 25 and a filter by status, and each key is on one page', async () => {
  const { get, community } = await createTestPanel()
  const made: string[] = []
  for (let count = 0; count < 60; count++) {
    const { key } = await community.keys.create({ network: '2', name: `Key ${count}`, scopes: ['*'] })
    if (count % 3 === 0) await community.keys.revoke('2', key.id)
    made.push(key.name)
  }
  const walk = async (start: string): Promise<string[][]> => {
    const pages: string[][] = []
    for (let path: string | undefined = start; path !== undefined; ) {
      const { text } = await get(path)
      pages.push([...text.matchAll(/<th scope="row"><bdi>(Key \d+)/g)].map(([, name = '']) => name))
      const [, older] = /href="([^"]+)">Older/.exec(text) ?? []
      path = older?.replaceAll('&amp;', '&').replace('../', '')
    }
    return pages
  }
  const newest = made.toReversed()
  const all = await walk('2/keys')
  expect([all.map(({ length }) => length), all.flat()]).toEqual([[25, 25, 10], newest])
  const isRevoked = (name: string) => Number(name.slice(4)) % 3 === 0
  expect((await walk('2/keys?status=revoked')).flat()).toEqual(newest.filter(isRevoked))
  expect((await walk('2/keys?status=active')).flat()).toEqual(newest.filter((name) => !isRevoked(name)))
  for (const wrong of ['status=gone', 'status=active&status=revoked', 'after=x', 'after=%00', 'status=__proto__'])
    expect([wrong, (await get(`2/keys?${wrong}`)).status]).toEqual([wrong, 422])
  expect((await get('2/keys?status=revoked&after=1')).text).toContain('No key here')
})

test('a form that was refused may be sent again, as it was and mended', async () => {
  const { get, post, community } = await createTestPanel()
  const once = formIn((await get('1/keys/new')).text, [['access', '*']])
  for (let turn = 0; turn < 2; turn++) expect((await post('1/keys', [...once, ['name', '']])).status).toBe(422)
  expect((await post('1/keys', [...once, ['name', 'Mended']])).status).toBe(201)
  expect((await post('1/keys', [...once, ['name', 'Mended']])).status).toBe(409)
  expect((await community.keys.list('1')).filter(({ name }) => name === 'Mended')).toHaveLength(1)
})
