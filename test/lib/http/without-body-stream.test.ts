/** Requests as Firefox makes them: its `Request` has no property `body`. */
import { expect, test } from 'vitest'
import { receive } from '../../../lib/receiver/index.ts'
import { createTestCommunity } from '../../support/community.ts'
import { testPorts } from '../../support/ports.ts'
import { createTestPanel } from '../panel/support.ts'
import { atNoon, deliveryOf, event, secret, token } from '../receiver/support.ts'

const asInFirefox = (request: Request): Request => Object.defineProperty(request, 'body', { value: undefined })

async function host() {
  const faults: unknown[] = []
  const { ports, files } = testPorts()
  const { community, token } = await createTestCommunity({ ports, hooks: { onError: (error) => void faults.push(error) } })
  const requestOf = (method: string, path: string, body?: string | FormData, more: Readonly<Record<string, string>> = {}) => {
    const headers = { authorization: `Bearer ${token}`, ...more }
    return asInFirefox(new Request(`https://api.test/admin/v1/networks/1${path}`, { method, headers, body: body ?? null }))
  }
  const send = async (...given: Parameters<typeof requestOf>) => {
    const response = await community.fetch(requestOf(...given))
    return [response.status, await response.json()]
  }
  return { community, faults, files, requestOf, send }
}

const json = { 'content-type': 'application/json' }

test('JSON and uploads without a stream are read, and a request without a body has none', async () => {
  const { send, files } = await host()
  expect(await send('POST', '/tags', JSON.stringify({ title: 'Café 🌱' }), json)).toMatchObject([201, { title: 'Café 🌱' }])
  const form = new FormData()
  form.set('asset_style', 'file')
  form.set('asset_file', new File([new Uint8Array(100_000).fill(7)], 'wash.bin'))
  expect(await send('POST', '/assets', form)).toMatchObject([201, { name: 'wash.bin' }])
  expect([...files.values()].map(({ length }) => length)).toEqual([100_000])
  expect(await send('GET', '/tags')).toMatchObject([200, { items: [{ title: 'Café 🌱' }] }])
  expect(await send('POST', '/tags', undefined, json)).toMatchObject([422, {}])
})

test('a body without a stream has the same bounds, and the same faults', async () => {
  const { community, faults, requestOf, send } = await host()
  const long = ' '.repeat(2 * 1024 * 1024)
  expect(await send('POST', '/tags', long, json)).toMatchObject([413, {}])
  expect(await send('POST', '/tags', long, { ...json, 'content-length': String(long.length) })).toMatchObject([413, {}])
  const broken = new ReadableStream({ start: (controller) => controller.error(new Error('the client left')) })
  const cut = new Request(requestOf('POST', '/tags', undefined, json), { body: broken, duplex: 'half' } as RequestInit)
  expect((await community.fetch(asInFirefox(cut))).status).toBe(400)
  expect(faults).toEqual([])
  const read = requestOf('POST', '/tags', '{}', json)
  await read.text()
  expect((await community.fetch(read)).status).toBe(500)
  expect(String(faults[0])).toContain('The host has read the body')
})

test('a form of the panel without a stream is read, up to its bound', async () => {
  const { panel, community } = await createTestPanel()
  const post = async (body: string) => {
    const headers = { 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'same-origin' }
    const request = new Request('https://panel.test/admin/panel/1/keys', { method: 'POST', headers, body })
    return (await panel(asInFirefox(request)))?.status
  }
  const before = await community.keys.list('1')
  expect(await post(`name=${'a'.repeat(65_536)}&access=*`)).toBe(413)
  expect(await community.keys.list('1')).toHaveLength(before.length)
  expect(await post('name=Firefox&access=*')).toBe(201)
  expect((await community.keys.list('1')).map(({ name }) => name)).toContain('Firefox')
})

test('a webhook without a stream is received, up to its bound', async () => {
  const options = { token, secrets: secret, now: atNoon }
  expect((await receive(asInFirefox(await deliveryOf()), options)).event).toEqual(event)
  const tooLong = receive(asInFirefox(await deliveryOf()), { ...options, maxBytes: 10 })
  await expect(tooLong).rejects.toMatchObject({ code: 'body_too_large' })
})
