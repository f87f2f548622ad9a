/** Bodies of a `Request`, with their length announced and without. */
import { expect, test } from 'vitest'
import { createTestCommunity } from '../../support/community.ts'

const text = JSON.stringify({ title: 'Café 🌱' })
const bytes = new TextEncoder().encode(text)

const streamOf = (pull: (controller: ReadableStreamDefaultController<Uint8Array>) => void) => new ReadableStream({ pull })
const whole = () =>
  streamOf((controller) => {
    controller.enqueue(bytes)
    controller.close()
  })
const broken = (by = new Error('the client left')) => streamOf((controller) => controller.error(by))

async function host() {
  const faults: unknown[] = []
  const { community, token } = await createTestCommunity({ hooks: { onError: (error) => void faults.push(error) } })
  const requestWith = (body: ReadableStream, more: Readonly<Record<string, string>>) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...more }
    const init = { method: 'POST', headers, body, duplex: 'half' as const }
    return new Request('https://api.test/admin/v1/networks/1/tags', init)
  }
  return { community, faults, requestWith }
}

test.each([
  ['no length', {}],
  ['its length', { 'content-length': String(bytes.length) }],
  ['a length, and chunks', { 'content-length': String(bytes.length), 'transfer-encoding': 'chunked' }],
  ['no number as length', { 'content-length': 'many' }],
])('a body with %s is read, one that breaks off is a 400, and beyond the limit of a host a 413', async (_, headers) => {
  const { community, faults, requestWith } = await host()
  const created = await community.fetch(requestWith(whole(), headers))
  expect([created.status, await created.json()]).toMatchObject([201, { title: 'Café 🌱' }])
  const cut = await community.fetch(requestWith(broken(), headers))
  expect([cut.status, await cut.json()]).toEqual([400, { error: 'The body ended before it was complete' }])
  const limited = await community.fetch(
    requestWith(broken(Object.assign(new Error('Content-length exceeds'), { status: 413 })), headers),
  )
  expect(limited.status).toBe(413)
  expect(faults).toEqual([])
})

test.each([
  ['no length', {}],
  ['its length', { 'content-length': String(bytes.length) }],
])('a body with %s that the host has read, or holds, is a fault of the host', async (_, headers) => {
  const { community, faults, requestWith } = await host()
  const read = requestWith(whole(), headers)
  await read.text()
  const held = requestWith(whole(), headers)
  held.body?.getReader()
  for (const request of [read, held]) expect((await community.fetch(request)).status).toBe(500)
  expect(faults.map(String)).toEqual(Array.from({ length: 2 }, () => expect.stringContaining('The host has read the body')))
})

test('a body that is longer than its announced length, and than the limit, is a 413', async () => {
  const { community, requestWith } = await host()
  const long = () =>
    streamOf((controller) => {
      controller.enqueue(new Uint8Array(40 * 1024 * 1024).fill(0x20))
      controller.close()
    })
  for (const headers of [{}, { 'content-length': '20' }, { 'content-length': String(40 * 1024 * 1024) }])
    expect((await community.fetch(requestWith(long(), headers))).status).toBe(413)
})
