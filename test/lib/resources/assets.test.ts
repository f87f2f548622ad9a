import { expect, test } from 'vitest'
import { fromRequest } from '../../../lib/http/exchange.ts'
import type { Options } from '../../../lib/index.ts'
import { scoped } from '../../../lib/storage/scoped.ts'
import { assets } from '../../../lib/storage/tables/content.ts'
import { createTestCommunity, request } from '../../support/community.ts'
import type { Json } from '../../support/json.ts'
import { downloadable, png, testPorts } from '../../support/ports.ts'

type Fields = Readonly<Record<string, string | Blob>>

/** A community with its asset store at hand, and a way to send it forms. */
async function withStore(options: Partial<Options> = {}) {
  const { ports, files } = testPorts()
  const network = await createTestCommunity({ ports, ...options })
  const { community, token } = network
  const upload = async (fields: Fields, headers: Record<string, string> = {}, path = '/assets') => {
    const form = new FormData()
    for (const [name, value] of Object.entries(fields)) form.append(name, value)
    // As the bytes that a server would read: a Request over a FormData continues to write after its reader has left.
    const encoded = new Response(form)
    const type = encoded.headers.get('content-type') ?? ''
    return request(community, 'POST', `/admin/v1/networks/1${path}`, {
      body: await encoded.arrayBuffer(),
      headers: { authorization: `Bearer ${token}`, 'content-type': type, ...headers },
    })
  }
  const stored = () => network.storage.transaction((tx) => tx.find(assets, { where: { network_id: '1' } }), { readOnly: true })
  return { ...network, upload, files, stored }
}

const file = (bytes: Uint8Array<ArrayBuffer> | string, name: string, type = '') => new File([bytes], name, { type })

test('a file is stored as what its bytes say it is, whatever its sender calls it', async () => {
  const { upload, files, stored, newEvents } = await withStore()
  const response = await upload({
    asset_style: 'cover',
    asset_file: file(png, 'C:\\pictures\\rose.exe', 'application/x-msdownload'),
    original_aspect_ratio: '1:1',
    'metadata[is_main_image]': 'true',
    input_type: 'whatever',
  })
  const [[name, bytes] = ['', new Uint8Array()]] = files
  expect({ status: response.status, body: response.body }).toEqual({
    status: 201,
    body: { id: expect.any(String), url: `https://cdn.test/${name}`, type: 'Asset', name: 'rose.exe' },
  })
  expect(name).toMatch(/^[0-9a-f-]{36}\.png$/)
  expect(bytes).toEqual(png)
  expect(await stored()).toMatchObject([
    {
      id: response.body.id,
      asset_style: 'cover',
      content_type: 'image/png',
      byte_size: png.length,
      original_aspect_ratio: '1:1',
      metadata: { is_main_image: 'true' },
    },
  ])
  expect(newEvents()).toEqual([])
})

test('a file may be downloaded from source_url, named in a form or in JSON', async () => {
  const { upload, send, stored } = await withStore()
  const body = { asset_style: 'post', source_url: downloadable, metadata: { is_video_image: false } }
  expect(await send('assets.create', { body })).toMatchObject({ status: 201, body: { name: 'rose.png' } })
  const form = { ...body, metadata: JSON.stringify(body.metadata) }
  expect(await upload(form, {}, '/assets/')).toMatchObject({ status: 201, body: { name: 'rose.png' } })
  expect(await stored()).toMatchObject([
    { metadata: { is_video_image: false }, content_type: 'image/png' },
    { metadata: { is_video_image: false }, content_type: 'image/png' },
  ])
})

test('a form has at most 1,000 fields, and is refused before they are gathered', async () => {
  const { upload, files, stored } = await withStore()
  const fields = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`metadata[k${index}]`, 'x'] as const))
  const asset = { asset_style: 'cover', asset_file: file(png, 'a.png') }
  expect((await upload({ ...asset, ...fields(998), 'metadata[__proto__]': 'y' })).status).toBe(413)
  expect((await upload({ ...asset, ...fields(200_000) })).body).toEqual({ error: 'The form has more than 1000 fields' })
  expect(files.size).toBe(0)
  expect((await upload({ ...asset, ...fields(997), 'metadata[__proto__]': 'y' })).status).toBe(201)
  const [row] = await stored()
  expect(Object.entries(row?.metadata ?? {})).toHaveLength(998)
  expect(Object.getOwnPropertyDescriptor(row?.metadata, '__proto__')?.value).toBe('y')
})

const deep = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels)

test.each([
  ['deep', `{"a":${deep(20_000)}}`, 'metadata must not be nested more than 64 levels deep'],
  ['long', JSON.stringify({ a: 'x'.repeat(100_000) }), 'metadata must have at most 100000 characters as JSON'],
])('metadata that is too %s is refused', async (_, metadata, error) => {
  const { upload, files, faults } = await withStore()
  const response = await upload({ asset_style: 'cover', asset_file: file(png, 'a.png'), metadata })
  expect({ status: response.status, body: response.body }).toEqual({ status: 422, body: { error } })
  expect([files.size, faults]).toEqual([0, []])
})

test('metadata as a file is refused, never kept as an empty object', async () => {
  const { upload } = await withStore()
  const metadata = new Blob(['{"a":1}'], { type: 'application/json' })
  const response = await upload({ asset_style: 'cover', asset_file: file(png, 'a.png'), metadata })
  expect(response).toMatchObject({ status: 422, body: { error: 'metadata must be an object' } })
})

test('metadata as a text above its limit is refused before it is parsed', async () => {
  const { upload, files } = await withStore()
  const refusal = { status: 422, body: { error: 'metadata must have at most 100000 characters as JSON' } }
  // The value alone would be short enough, or is no JSON at all.
  for (const metadata of [`{"a":1${' '.repeat(100_000)}}`, 'x'.repeat(100_001), `{"a":${deep(60_000)}}`])
    expect(await upload({ asset_style: 'cover', asset_file: file(png, 'a.png'), metadata })).toMatchObject(refusal)
  expect(files.size).toBe(0)
})

test('the texts of a form have the limit of other bodies together, apart from its file', async () => {
  const { upload, files } = await withStore({ limits: { bodyBytes: 2_000, assetBytes: 10_000 } })
  const large = { asset_style: 'cover', asset_file: file('x'.repeat(5_000), 'a.txt') }
  const texts = (each: number) => ({ first: 'x'.repeat(each), 'metadata[a]': 'x'.repeat(each) })
  expect((await upload({ ...large, ...texts(990) })).status).toBe(201)
  const refusal = { status: 413, body: { error: 'The texts in the form are larger than 2000 bytes' } }
  expect(await upload({ ...large, ...texts(1_000) })).toMatchObject(refusal)
  expect(await upload({ ...large, metadata: `{"a":${deep(1_500)}}` })).toMatchObject(refusal)
  expect(files.size).toBe(1)
})

test('a form without a file has the limit of other bodies', async () => {
  const { send, upload } = await withStore({ limits: { bodyBytes: 2_000 } })
  const fields = { asset_style: 'cover', source_url: downloadable, metadata: JSON.stringify({ a: 'x'.repeat(2_000) }) }
  const json = await send('assets.create', { body: fields })
  expect([json.status, json.body.error]).toEqual([413, 'The body is larger than 2000 bytes'])
  expect((await upload(fields)).status).toBe(413)
})

test('the image of a badge is an asset that was uploaded', async () => {
  const { upload, send } = await withStore()
  const { body: asset } = await upload({ asset_style: 'avatar', asset_file: file(png, 'a.png') })
  const { body: badge } = await send('badges.create', { body: { title: 'Early bird', avatar_id: asset.id } })
  expect(badge.avatar_url).toBe(asset.url)
})

test.each([
  [400, 'asset_style is required', { asset_file: file(png, 'a.png') }],
  [400, 'asset_file or source_url is required', { asset_style: 'cover' }],
  [422, 'asset_style must be one of avatar, ', { asset_style: 'poster', asset_file: file(png, 'a.png') }],
  [422, 'asset_file must be a file', { asset_style: 'cover', asset_file: 'a.png' }],
  [422, 'asset_file is empty', { asset_style: 'cover', asset_file: file('', 'a.png') }],
  [422, 'metadata must be an object', { asset_style: 'cover', asset_file: file(png, 'a.png'), metadata: 'x' }],
  [422, 'source_url must be an http or https URL', { asset_style: 'cover', source_url: 'file:///etc/passwd' }],
  [422, 'source_url could not be downloaded from the public internet', { asset_style: 'cover', source_url: 'http://localhost/' }],
  [
    422,
    'source_url could not be downloaded from the public internet',
    { asset_style: 'cover', source_url: 'https://files.example/gone.png' },
  ],
] as const)('an upload is refused with %i: %s', async (status, error, fields) => {
  const { upload, files, stored } = await withStore()
  expect(await upload(fields)).toMatchObject({ status, body: { error: expect.stringContaining(error) } })
  expect([files.size, await stored()]).toEqual([0, []])
})

test('a file above the limit is 413, sent or downloaded, and nothing is kept', async () => {
  const { upload, files } = await withStore({ limits: { assetBytes: 64, bodyBytes: 2000 } })
  const refusal = { status: 413, body: { error: 'The file is larger than 64 bytes' } }
  expect(await upload({ asset_style: 'cover', asset_file: file('x'.repeat(65), 'a.txt') })).toMatchObject(refusal)
  expect(await upload({ asset_style: 'cover', source_url: downloadable })).toMatchObject(refusal)
  expect(await upload({ asset_style: 'cover', asset_file: file('x'.repeat(3000), 'a.txt') })).toMatchObject({
    status: 413,
    body: { error: 'The body is larger than 2064 bytes' },
  })
  expect((await upload({ asset_style: 'cover', asset_file: file('x'.repeat(64), 'a.txt') })).status).toBe(201)
  expect(files.size).toBe(1)
})

test('what is neither a form nor JSON is 415, and a broken form 400', async () => {
  const { community, token, files } = await withStore()
  const post = (type: string) =>
    request(community, 'POST', '/admin/v1/networks/1/assets', {
      body: '--x\r\nnonsense',
      headers: { authorization: `Bearer ${token}`, 'content-type': type },
    })
  expect(await post('image/png')).toMatchObject({
    status: 415,
    body: {
      error:
        'Content-Type must be multipart/form-data with a boundary, application/x-www-form-urlencoded or application/json, got image/png',
    },
  })
  expect((await post('multipart/form-data')).body.error).toMatch(/with a boundary, .+, got multipart\/form-data$/)
  expect(await post('multipart/form-data; boundary=x')).toMatchObject({
    status: 400,
    body: { error: 'The body is not a valid multipart/form-data form' },
  })
  expect(files.size).toBe(0)
})

test.each(['application/x-www-form-urlencoded', 'Application/X-WWW-Form-Urlencoded; charset=UTF-8'])(
  'a download may be requested in a form without files: %s',
  async (type) => {
    const { community, token, stored } = await withStore()
    const form = { asset_style: 'cover', source_url: downloadable, 'metadata[is_main_image]': 'true' }
    const response = await request(community, 'POST', '/admin/v1/networks/1/assets', {
      body: String(new URLSearchParams(form)),
      headers: { authorization: `Bearer ${token}`, 'content-type': type },
    })
    expect(response).toMatchObject({ status: 201, body: { name: 'rose.png' } })
    expect(await stored()).toMatchObject([{ asset_style: 'cover', metadata: { is_main_image: 'true' } }])
  },
)

test('a form without files that the host has parsed is taken as it is', async () => {
  const { community, token } = await withStore()
  const response = await community.serve({
    ...fromRequest(
      new Request('https://api.test/admin/v1/networks/1/assets', {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/x-www-form-urlencoded' },
      }),
    ),
    parsedBody: { asset_style: 'cover', source_url: downloadable },
  })
  expect(response.status).toBe(201)
})

test('a form is for uploads only', async () => {
  const { upload } = await withStore()
  expect(await upload({ title: 'x' }, {}, '/tags')).toMatchObject({ status: 415 })
})

test('without a token no form is read', async () => {
  const { upload, files } = await withStore()
  expect((await upload({ asset_style: 'cover', asset_file: file(png, 'a.png') }, { authorization: '' })).status).toBe(401)
  expect(files.size).toBe(0)
})

test('the same upload with the same Idempotency-Key is stored once; another file is another request', async () => {
  const { upload, files, stored } = await withStore()
  const key = { 'idempotency-key': 'one' }
  const first = await upload({ asset_style: 'cover', asset_file: file(png, 'a.png') }, key)
  const second = await upload({ asset_style: 'cover', asset_file: file(png, 'a.png') }, key)
  expect([second.status, second.body, second.headers.get('idempotency-replayed')]).toEqual([201, first.body, 'true'])
  const third = await upload({ asset_style: 'cover', asset_file: file('other', 'a.png') }, key)
  expect(third.status).toBe(422)
  expect([files.size, (await stored()).length]).toEqual([1, 1])
})

test('a file for which no record comes about is removed again', async () => {
  const veto = new Error('the database is away')
  const faults: unknown[] = []
  const { upload, files } = await withStore({
    hooks: {
      before: () => {
        throw veto
      },
      onError: (error) => faults.push(error),
    },
  })
  expect((await upload({ asset_style: 'cover', asset_file: file(png, 'a.png') })).status).toBe(500)
  expect([files.size, faults]).toEqual([0, [veto]])
})

test('while the store fails an upload is a 503 with Retry-After, and the cause is reported', async () => {
  const away = new Error('the bucket does not answer')
  const faults: unknown[] = []
  const { ports } = testPorts()
  const store = { put: () => Promise.reject(away), remove: async () => undefined }
  const { upload, stored } = await withStore({
    ports: { ...ports, assets: store },
    hooks: { onError: (error) => faults.push(error) },
  })
  const response = await upload({ asset_style: 'cover', asset_file: file(png, 'a.png') })
  expect([response.status, response.headers.get('retry-after'), await stored()]).toEqual([503, '5', []])
  expect(response.body.error).toBe('The storage is busy or cannot be reached; nothing was written. Try again')
  expect(faults).toEqual([
    expect.objectContaining({ message: 'the store of uploads has failed: the bucket does not answer', cause: away }),
  ])
})

test.each([
  ['assets', 'asset_file', { asset_file: file(png, 'a.png') }],
  ['fileTypes', 'asset_file', { asset_file: file(png, 'a.png') }],
  ['download', 'source_url', { source_url: downloadable }],
])('without the port %s an upload is refused with its name', async (name, field, fields) => {
  const { [name as 'assets']: _, ...ports } = testPorts().ports
  const { upload } = await withStore({ ports })
  expect(await upload({ asset_style: 'cover', ...fields } as Fields)).toMatchObject({
    status: 422,
    body: { error: `${field} needs option \`ports.${name}\`, which this service does not have` },
  })
})

test('a direct call takes a file', async () => {
  const { community } = await withStore()
  const body = { asset_style: 'file', asset_file: file('Hello', 'hello.txt') } as const
  const asset: Json = await community.call('assets.create', { network: '1', body })
  expect(asset).toEqual({ id: expect.any(String), url: expect.stringMatching(/\.txt$/), type: 'Asset', name: 'hello.txt' })
})

test('an upload is published as multipart/form-data alone, from which clients are generated that can send a file', async () => {
  const { community } = await withStore()
  const { paths, components } = community.openapi() as Json
  const { post } = paths['/admin/v1/networks/{network_id}/assets']
  expect(post.requestBody).toEqual({
    required: true,
    content: { 'multipart/form-data': { schema: { $ref: '#/components/schemas/AssetUploadForm' }, example: expect.any(Object) } },
  })
  expect(components.schemas.AssetUploadForm).toMatchObject({
    required: ['asset_style'],
    properties: { metadata: { type: 'object' } },
  })
  expect(post.responses['415'].description).toBe('The body is neither a form nor JSON.')
  expect(Object.keys(post.responses)).toEqual(expect.arrayContaining(['201', '400', '401', '413', '415', '422']))
})

/** A community whose files are served on the origin that callers use. */
async function withOwnFiles(options: Partial<Options> = {}) {
  const { ports } = testPorts()
  const own = {
    ...ports,
    assets: { put: async (_bytes: Uint8Array, { id }: { id: string }) => `/assets/${id}.png`, remove: async () => {} },
  }
  return withStore({ ports: own, ...options })
}

test.each([
  ['the origin that the caller used', {}, {}, 'https://api.test'],
  [
    'the origin that the proxy names',
    { trustProxy: true },
    { 'x-forwarded-host': 'community.example', 'x-forwarded-proto': 'https' },
    'https://community.example',
  ],
  [
    'the part of the path that a proxy cuts off',
    { trustProxy: true },
    { 'x-forwarded-host': 'community.example', 'x-forwarded-prefix': '/api' },
    'https://community.example/api',
  ],
  ['the public URL with its path', { publicUrl: 'https://public.example/community' }, {}, 'https://public.example/community'],
  ['the public URL', { publicUrl: 'https://public.example' }, {}, 'https://public.example'],
] as const)(
  'a file that is kept by its path is shown on %s, in answers and in webhooks',
  async (_where, options, headers, origin) => {
    const { upload, send, owner, newEvents, stored } = await withOwnFiles(options)
    const { body: asset } = await upload({ asset_style: 'avatar', asset_file: file(png, 'rose.png') }, headers)
    const [{ url: path } = { url: '' }] = await stored()
    expect([asset.url, path]).toEqual([`${origin}${path}`, expect.stringMatching(/^\/assets\//)])
    const badge = await send('badges.create', { body: { title: 'Rose', avatar_id: asset.id }, headers })
    expect(badge.body.avatar_url).toBe(asset.url)
    expect((await send('badges.list', { headers })).body.items[0].avatar_url).toBe(asset.url)
    const given = { params: { member_id: owner.id }, body: { badge_id: badge.body.id }, headers }
    expect((await send('member_badges.create', given)).body.avatar_url).toBe(asset.url)
    expect(newEvents()).toMatchObject([{ event_type: 'MemberBadgeAddedHook', payload: { badge: { avatar_url: asset.url } } }])
  },
)

test('a direct call shows a file on the public URL, and each caller sees it on their own origin', async () => {
  const { community, upload, send } = await withOwnFiles({ trustProxy: true })
  const { body: asset } = await upload({ asset_style: 'avatar', asset_file: file(png, 'rose.png') })
  const { body: badge } = await send('badges.create', { body: { title: 'Rose', avatar_id: asset.id } })
  const params = { id: badge.id }
  const elsewhere = await send('badges.show', { params, headers: { 'x-forwarded-host': 'other.example' } })
  expect(elsewhere.body.avatar_url).toBe(asset.url.replace('https://api.test', 'https://other.example'))
  const direct = await community.call('badges.show', { network: '1', params })
  expect(direct.avatar_url).toBe(asset.url.replace('https://api.test', 'https://localhost'))
})

test('an address that was stored with its origin stays as it is', async () => {
  const { storage, send } = await withOwnFiles()
  const { upload } = await withStore()
  const { body: elsewhere } = await upload({ asset_style: 'avatar', asset_file: file(png, 'rose.png') })
  expect(elsewhere.url).toMatch(/^https:\/\/cdn\.test\//)
  const old = 'http://127.0.0.1:4010/assets/rose.png'
  await storage.transaction((tx) =>
    scoped(tx, '1').insert(assets, {
      ...{ id: '77', created_at: '2026-11-20T10:00:00.000Z', updated_at: '2026-11-20T10:00:00.000Z' },
      ...{ url: old, type: 'Asset', name: null, asset_style: 'avatar', content_type: 'image/png', byte_size: 1 },
    }),
  )
  expect((await send('badges.create', { body: { title: 'Rose', avatar_id: '77' } })).body.avatar_url).toBe(old)
})

test('what is fetched from `source_url` is in flight until the response, and has the same bound', async () => {
  const { ports } = testPorts()
  const fetched: number[] = []
  const community = await withStore({
    limits: { inFlightBytes: 2000, assetBytes: 800, bodyBytes: 200 },
    ports: {
      ...ports,
      download: {
        async get(_url, _limit, arrived) {
          for (let part = 0; part < 6; part++) {
            arrived?.(200)
            fetched.push(community.community.inFlight().bytes)
          }
          return { ok: true, bytes: png, name: 'rose.png' }
        },
      },
    },
  })
  const response = await community.send('assets.create', { body: { asset_style: 'cover', source_url: downloadable } })
  expect({ status: response.status, retry: response.headers.get('retry-after') }).toEqual({ status: 503, retry: '2' })
  expect(fetched.length).toBeGreaterThan(2)
  expect(Math.max(...fetched)).toBeLessThanOrEqual(1000)
  expect(community.community.inFlight().bytes).toBe(0)
})
