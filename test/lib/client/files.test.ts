/** Uploads and downloads of a client. */
import { expect, test } from 'vitest'
import { createClient } from '../../../lib/client/index.ts'
import { createTestCommunity } from '../../support/community.ts'
import { onLoopback } from '../../support/on-loopback.ts'
import { png, testPorts } from '../../support/ports.ts'
import { json, scripted } from '../../support/scripted-server.ts'

const bytes = (length: number) => new Uint8Array(length).fill(7)
const streamOf = (...chunks: Uint8Array[]): ReadableStream<Uint8Array> => {
  const left = [...chunks]
  return new ReadableStream({
    pull(controller) {
      const chunk = left.shift()
      if (chunk) controller.enqueue(chunk)
      else controller.close()
    },
  })
}

test.each([
  ['a File', () => new File([png], 'wash "1"\n.png', { type: 'image/png' }), 'wash "1".png'],
  ['a Blob', () => new Blob([png], { type: 'image/png' }), 'file'],
  ['a stream', () => ({ stream: streamOf(png.slice(0, 9), png.slice(9)), name: 'ölbild.png', type: 'image/png' }), 'ölbild.png'],
])('a file is uploaded from %s', async (_, file, name) => {
  const { ports, files } = testPorts()
  const { community, token } = await createTestCommunity({ ports })
  const forms: FormData[] = []
  const fetch = async (request: Request) => {
    forms.push(await request.clone().formData())
    return community.fetch(request)
  }
  const client = createClient({ baseUrl: 'https://api.test', network: 1, token, fetch })
  const metadata = { is_main_image: true, title: 'Grüße' }
  const asset = await client.assets.create({ asset_style: 'post', asset_file: file(), metadata })
  expect(asset).toMatchObject({ name })
  expect([...files.values()]).toEqual([png])
  expect(JSON.parse(String(forms[0]?.get('metadata')))).toEqual(metadata)
  expect(forms[0]?.get('asset_style')).toBe('post')
})

test('a form and a source_url are sent as they are', async () => {
  const { client, requests } = scripted([json({}), json({})])
  const form = new FormData()
  form.set('asset_style', 'post')
  await client.assets.create(form)
  await client.assets.create({ asset_style: 'post', source_url: 'https://files.example/a.png' })
  expect(requests.map(({ headers }) => headers.get('content-type')?.replace(/=.*/, ''))).toEqual([
    'multipart/form-data; boundary',
    'application/json',
  ])
})

test('an upload from a Blob is tried again, one from a stream is not', async () => {
  const again = scripted([new TypeError('fetch failed'), json({ id: '5' })])
  await again.client.assets.create({ asset_style: 'post', asset_file: new Blob(['x']) })
  expect(again.requests.length).toBe(2)
  const once = scripted([json({ error: 'later' }, 503)])
  const file = { stream: streamOf(bytes(5)), name: 'a.png' }
  await expect(once.client.assets.create({ asset_style: 'post', asset_file: file })).rejects.toThrow('503 later')
  expect(once.requests.length).toBe(1)
})

test('a stream that fails while it is sent fails the call, and one that is not wanted is cancelled', async () => {
  const read = async (request: Request) => {
    await request.text()
    return json({})
  }
  const broken = new ReadableStream<Uint8Array>({ pull: (controller) => controller.error(new Error('disk')) })
  const failing = createClient({ baseUrl: 'https://api.test', network: 1, token: 'x', fetch: read })
  await expect(failing.assets.create({ asset_style: 'post', asset_file: { stream: broken, name: 'a' } })).rejects.toMatchObject({
    name: 'ConnectionError',
    code: 'file_failed',
    cause: new Error('disk'),
  })
  let cancelled = 0
  const endless = () =>
    new ReadableStream<Uint8Array>({
      pull: (controller) => controller.enqueue(bytes(10)),
      cancel: () => void cancelled++,
    })
  const refuse = async (request: Request) => {
    const reader = request.body?.getReader()
    await reader?.read()
    await reader?.read()
    await reader?.cancel()
    return json({ error: 'too large' }, 413)
  }
  const client = createClient({ baseUrl: 'https://api.test', network: 1, token: 'x', fetch: refuse })
  await expect(client.assets.create({ asset_style: 'post', asset_file: { stream: endless(), name: 'a' } })).rejects.toThrow('413')
  expect(cancelled).toBe(1)
  const stopped = client.assets.create({ asset_file: { stream: endless(), name: 'a' } }, { signal: AbortSignal.abort('no') })
  await expect(stopped).rejects.toBe('no')
  expect(cancelled).toBe(2)
})

test('over a connection the error of a stream is the cause, and the message has its code', async () => {
  const origin = await onLoopback((request, response) => void request.resume().on('end', () => response.end('{}')))
  const client = createClient({ baseUrl: origin, network: 1, token: 'x' })
  const missing = Object.assign(new Error('ENOENT: no such file, open /srv/ada/secret.png'), { code: 'ENOENT' })
  let pulls = 0
  const stream = new ReadableStream<Uint8Array>({
    pull: (controller) => (++pulls > 2 ? controller.error(missing) : controller.enqueue(bytes(100))),
  })
  await expect(client.assets.create({ asset_style: 'post', asset_file: { stream, name: 'a' } })).rejects.toMatchObject({
    name: 'ConnectionError',
    code: 'file_failed',
    message: 'POST /admin/v1/networks/1/assets: the stream of a file failed while it was sent (ENOENT)',
    cause: missing,
  })
})

test('a file is downloaded as a stream, without the token', async () => {
  const response = () =>
    new Response(streamOf(bytes(10), bytes(20)), { headers: { 'content-type': 'image/png', 'content-length': '30' } })
  const { client, requests } = scripted([json({}, 503), response(), response()])
  const { stream, type, size } = await client.download('https://cdn.example/a.png')
  expect({ type, size, bytes: (await new Response(stream).arrayBuffer()).byteLength }).toEqual({
    ...{ type: 'image/png', size: 30, bytes: 30 },
  })
  await client.download('/assets/b.png')
  expect(requests.map(({ url }) => url)).toEqual([
    ...['https://cdn.example/a.png', 'https://cdn.example/a.png', 'https://api.test/assets/b.png'],
  ])
  expect(requests.some(({ headers }) => headers.has('authorization'))).toBe(false)
})

test('a download is bounded, and ends with its signal', async () => {
  const response = () => new Response(streamOf(bytes(10), bytes(20)))
  const large = await scripted([response()]).client.download('https://cdn.example/a', { maxBytes: 20 })
  await expect(new Response(large.stream).arrayBuffer()).rejects.toThrow('the file is larger than 20 bytes (option `maxBytes`)')
  const stopping = new AbortController()
  const open = await scripted([response()]).client.download('https://cdn.example/a', { signal: stopping.signal })
  stopping.abort(new Error('enough'))
  await expect(new Response(open.stream).arrayBuffer()).rejects.toThrow('enough')
})

test('a download in which no byte comes any more ends with its time limit', async () => {
  const limits: (() => void)[] = []
  const after = (_: number, run: () => void) => {
    limits.push(run)
    return () => {}
  }
  const timing = { now: () => 0, random: () => 0, after }
  let cancelled = false
  const body = new ReadableStream({
    start: (controller) => controller.enqueue(bytes(10)),
    cancel() {
      cancelled = true
    },
  })
  const options = { baseUrl: 'https://api.test', network: 1, token: 'x', timing, fetch: async () => new Response(body) }
  const { stream } = await createClient(options).download('https://cdn.example/a', { timeout: 5000 })
  const reader = stream.getReader()
  expect((await reader.read()).value).toHaveLength(10)
  const next = reader.read()
  // The one of the request, of the first bytes, and of the next ones.
  await expect.poll(() => limits.length).toBe(3)
  limits[2]?.()
  await expect(next).rejects.toMatchObject({ name: 'TimeoutError', message: 'GET https://cdn.example/a: no byte within 5000 ms' })
  expect(cancelled).toBe(true)
})

test('a file that is not there, and a malformed address, are refused', async () => {
  const { client } = scripted([new Response('no', { status: 404 })])
  await expect(client.download('https://cdn.example/a?key=1')).rejects.toThrow('GET https://cdn.example/a: 404')
  for (const url of ['file:///etc/passwd', 'data:,x', 'http://[']) await expect(client.download(url)).rejects.toThrow(TypeError)
})
