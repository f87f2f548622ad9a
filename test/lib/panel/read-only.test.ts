/** The switch of a network that is read-only, and what the panel is like then. */
import { expect, test } from 'vitest'
import { admin, createTestPanel } from './support.ts'

const banner = 'This network is read-only'

test('a network is made read-only and takes writes again, in the name of the visitor', async () => {
  const { get, post, community } = await createTestPanel()
  expect((await get('1/overview')).text).toContain('../1/read-only')
  expect((await get('1/read-only')).text).toContain('name="read_only" value="true"')
  expect((await post('1/read-only', { read_only: 'true' })).headers.get('location')).toBe('../1/overview')
  expect(await community.networks.show('1')).toMatchObject({ read_only: true })
  for (const path of ['1/overview', '1/members', '1/keys', '1/webhooks', '1/audit']) {
    const { status, text } = await get(path)
    expect([path, status, text.includes(banner), text.includes('/read-only">Take writes again')]).toEqual([path, 200, true, true])
  }
  expect((await get('2/overview')).text).not.toContain(banner)
  expect((await get('1/read-only')).text).toContain('name="read_only" value="false"')
  await post('1/read-only', { read_only: 'false' })
  expect((await get('1/overview')).text).not.toContain(banner)
  const { items } = await community.audit.list({ network: '1' })
  const switched = items.filter(({ action }) => action === 'network.updated')
  expect(switched.map(({ actor, details }) => [actor, details])).toEqual([
    [admin.actor, { read_only: { from: true, to: false } }],
    [admin.actor, { read_only: { from: false, to: true } }],
  ])
})

test('a form that writes gets a clear page, and its confirmation says so before', async () => {
  const { get, post, community, owner, faults } = await createTestPanel()
  const { key } = await community.keys.create({ network: '1', name: 'Export', scopes: ['*'] })
  await community.networks.update('1', { read_only: true })
  const forms = [
    [`1/keys/${key.id}/revoke`, {}],
    ['1/keys', { name: 'New', access: '*', once: crypto.randomUUID() }],
    [`1/members/${owner.id}/ban`, {}],
    ['1/webhooks', { url: 'https://example.org/hook', once: crypto.randomUUID() }],
  ] as const
  for (const [path, fields] of forms) {
    const { status, text, headers } = await post(path, fields)
    expect([path, status, headers.get('retry-after')]).toEqual([path, 503, '30'])
    expect(text).toContain('<h1>Read-only</h1><p>The network is read-only for now. Nothing was written; try again later.</p>')
    expect(text).toContain('/read-only">Take writes again</a>')
  }
  const confirmation = await get(`1/members/${owner.id}/ban`)
  expect(confirmation.text).toContain('The network is read-only for now.')
  expect(confirmation.text).not.toContain('<form method="post"><p')
  expect(faults).toEqual([])
})

test('endpoints are paused and resumed all the same', async () => {
  const { post, community } = await createTestPanel()
  const { id } = await community.endpoints.upsert({ network: '1', url: 'https://example.org/hook', token: 't' })
  await community.networks.update('1', { read_only: true })
  expect((await post(`1/webhooks/${id}/pause`)).status).toBe(303)
  expect(await community.endpoints.find('1', id)).toMatchObject({ enabled: false })
})
