/** A visitor without a session is sent to the sign-in of the host, and comes back to the page. */
import { describe, expect, test } from 'vitest'
import { createPanel } from '../../../lib/panel/index.ts'
import { admin, createTestPanel } from './support.ts'

const opened = { 'sec-fetch-mode': 'navigate', accept: 'text/html,*/*;q=0.8' }

test('a page that is opened without a session leads to signIn, with the way back', async () => {
  const { send } = await createTestPanel(null, { signIn: '/sign-in' })
  const { status, headers } = await send('1/keys?status=active&after=5', { headers: opened })
  expect([status, headers.get('cache-control')]).toEqual([303, 'no-store'])
  expect(headers.get('location')).toBe('/sign-in?return_to=%2Fadmin%2Fpanel%2F1%2Fkeys%3Fstatus%3Dactive%26after%3D5')
  // Browsers on plain HTTP send no Sec-Fetch-Mode.
  expect((await send('', { headers: { accept: 'text/html' } })).headers.get('location')).toBe(
    '/sign-in?return_to=%2Fadmin%2Fpanel%2F',
  )
})

test.each<[string, RequestInit]>([
  [
    'a form',
    { method: 'POST', headers: { ...opened, 'sec-fetch-site': 'same-origin' }, body: new URLSearchParams({ name: 'x' }) },
  ],
  ['a request of a script', { headers: { 'sec-fetch-mode': 'cors', accept: '*/*' } }],
  ['a request of a script for a page', { headers: { 'sec-fetch-mode': 'same-origin', accept: 'text/html' } }],
  ['a request of a program', { headers: { accept: 'application/json' } }],
  ['a request without headers', {}],
])('%s without a session is a 403', async (_, init) => {
  const { send } = await createTestPanel(null, { signIn: '/sign-in' })
  const { status, headers, text } = await send('1/keys', init)
  expect([status, headers.get('location')]).toEqual([403, null])
  expect(text).toContain('<a class="button" href="../">Back to the panel</a>')
})

test('a form of the panel without a session gets a page that leads to signIn, because its policy lets no form be redirected', async () => {
  const { send } = await createTestPanel(null, { signIn: 'https://login.example.org/in' })
  const { status, headers } = await send('1/members?q=grace', { headers: { ...opened, 'sec-fetch-site': 'same-origin' } })
  expect([status, headers.get('location'), headers.get('refresh')]).toEqual([
    ...[403, null],
    '0; url=https://login.example.org/in?return_to=https%3A%2F%2Fpanel.test%2Fadmin%2Fpanel%2F1%2Fmembers%3Fq%3Dgrace',
  ])
})

test('without signIn it is a 403, and a visitor without networks is never sent there', async () => {
  const { send } = await createTestPanel(null)
  expect((await send('1/keys', { headers: opened })).status).toBe(403)
  const inside = await createTestPanel({ ...admin, networks: [] }, { signIn: '/sign-in' })
  expect((await inside.send('', { headers: opened })).status).toBe(200)
  expect((await inside.send('1/keys', { headers: opened })).status).toBe(404)
})

describe('the way back', () => {
  const locationOf = async (address: string, signIn = '/sign-in', more = {}) => {
    const { community } = await createTestPanel()
    const panel = createPanel(community, { authorize: () => null, basePath: '', signIn, ...more })
    const response = await panel(new Request(address, { headers: opened }))
    return response?.headers.get('location')
  }

  test.each([
    'https://panel.test//evil.example/1',
    'https://panel.test/\\evil.example/1',
    'https://panel.test/\\/evil.example',
    'https://panel.test///evil.example',
    `https://panel.test/1/keys?after=${'9'.repeat(3000)}`,
  ])('never leads elsewhere, and is short: %s', async (address) => {
    expect(await locationOf(address)).toBe('/sign-in?return_to=%2F')
  })

  test.each([
    ['/sign-in?to=admin', '/sign-in?to=admin&return_to=%2F1%2Fkeys'],
    ['https://login.example.org/', 'https://login.example.org/?return_to=https%3A%2F%2Fpanel.test%2F1%2Fkeys'],
  ])('is added to %s', async (signIn, location) => {
    expect(await locationOf('https://panel.test/1/keys', signIn)).toBe(location)
  })

  test('has the public origin for a sign-in at another origin', async () => {
    const publicUrl = 'https://www.example.org'
    expect(await locationOf('http://10.0.0.7:3000/1/keys', 'https://login.example.org/in', { publicUrl })).toBe(
      'https://login.example.org/in?return_to=https%3A%2F%2Fwww.example.org%2F1%2Fkeys',
    )
  })
})

test.each(['', 'sign-in', '//evil.example', '/\\evil.example', 'javascript:alert(1)', '/sign-in#top', '/a\r\nb', 5])(
  'signIn %j is refused',
  async (signIn) => {
    const { community } = await createTestPanel()
    expect(() => createPanel(community, { authorize: () => null, signIn: signIn as string })).toThrow(
      'option `signIn` must be a path such as /sign-in, or the address of a page',
    )
  },
)
