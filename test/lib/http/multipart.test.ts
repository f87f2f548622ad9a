/** Forms that a parser would need long for, and the ways to write a boundary. */
import { expect, test } from 'vitest'
import { createTestCommunity, request } from '../../support/community.ts'
import { downloadable, testPorts } from '../../support/ports.ts'

async function host() {
  const { community, token } = await createTestCommunity({ ports: testPorts().ports })
  return async (type: string, body: string) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': `multipart/form-data${type}` }
    const response = await request(community, 'POST', '/admin/v1/networks/1/assets', {
      body: Buffer.from(body, 'latin1'),
      headers,
    })
    return { status: response.status, error: response.body.error }
  }
}

const part = (boundary: string, name: string, value: string, more = '') =>
  `--${boundary}\r\nContent-Disposition: form-data; name="${name}"${more}\r\n\r\n${value}\r\n`
const asset = (boundary: string) =>
  `${part(boundary, 'asset_style', 'cover')}${part(boundary, 'asset_file', 'GIF89a', '; filename="a.gif"')}--${boundary}--\r\n`
const broken = { status: 400, error: 'The body is not a valid multipart/form-data form' }

test.each([
  ['; boundary=real', 'real'],
  ['; xboundary=other; boundary=real', 'real'],
  ['; charset="; boundary=other"; boundary=real', 'real'],
  [' ; charset=utf-8 ; BOUNDARY = "real"', 'real'],
  ['; boundary=real; boundary=other', 'real'],
  ['; boundary="===============0123456789=="', '===============0123456789=='],
  ['; boundary="a b;c"', 'a b;c'],
  [`; boundary=${'-'.repeat(26)}0123456789abcdef`, `${'-'.repeat(26)}0123456789abcdef`],
])('the boundary of %s is found, and it is the one that counts', async (type, boundary) => {
  const upload = await host()
  expect(await upload(type, asset(boundary))).toEqual({ status: 201, error: undefined })
  expect(await upload(type, asset('another'))).toEqual(broken)
})

test.each(['; boundary=', '; boundary', ';', '; boundary="a\\"b"', `; boundary=${'b'.repeat(201)}`])(
  'a form without a boundary that can be used is a 400: %s',
  async (type) => {
    const upload = await host()
    expect(await upload(type, asset('b'))).toEqual(broken)
  },
)

/** Sends parts, and gives the response with the file that was stored. */
async function uploaded(...parts: readonly string[]) {
  const { ports, files } = testPorts()
  const { community, token } = await createTestCommunity({ ports })
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'multipart/form-data; boundary=B' }
  const body = Buffer.from(`${parts.join('')}--B--\r\n`, 'latin1')
  const response = await request(community, 'POST', '/admin/v1/networks/1/assets', { body, headers })
  const stored = [...files.values()].map((bytes) => Buffer.from(bytes).toString('latin1'))
  return { status: response.status, name: response.body.name, error: response.body.error, stored }
}
const style = part('B', 'asset_style', 'cover')
const file = (disposition: string, content = 'GIF89a') =>
  `--B\r\nContent-Disposition: form-data; ${disposition}\r\n\r\n${content}\r\n`

test.each([
  ['the boundary itself', 'GIF89a B --B\r\n--BB\r\n--B and\r\n -- B'],
  ['line breaks at both ends', '\r\n\r\nGIF89a\r\n\r\n'],
  ['a half of a delimiter at the end', 'GIF89a\r\n--'],
  ['every byte', String.fromCharCode(...Array.from({ length: 256 }, (_, byte) => byte))],
])('a file is stored byte for byte: %s', async (_, content) => {
  expect(await uploaded(style, file('name="asset_file"; filename="a.gif"', content))).toMatchObject({
    status: 201,
    stored: [content],
  })
})

test.each([
  ['name="asset_file"; filename="a b.gif"', 'a b.gif'],
  ['filename="a.gif"; name="asset_file"', 'a.gif'],
  ['name=asset_file; filename=a.gif', 'a.gif'],
  ['name="asset_file"; filename="the \\"best\\" one.gif"', 'the "best" one.gif'],
  ['name="asset_file"; filename="the %22best%22 one.gif"', 'the "best" one.gif'],
  ['name="asset_file"; filename="50%25 off; name=x.gif"', '50%25 off; name=x.gif'],
  ['name="asset_file"; filename="C:\\images\\a.gif"', 'a.gif'],
  [`name="asset_file"; filename="u.gif"; filename*=UTF-8''%C3%BC.gif`, 'ü.gif'],
  [`name="asset_file"; filename="u.gif"; filename*=UTF-8''%C3`, 'u.gif'],
  ['name="asset_file"; filename="Ã¼.gif"', 'ü.gif'],
  ['name="asset_file";\r\n filename="a.gif"', 'a.gif'],
])('the name of a file is read from %s', async (disposition, name) => {
  expect(await uploaded(style, file(disposition))).toMatchObject({ status: 201, name, stored: ['GIF89a'] })
})

test('a file in base64 is stored decoded, as mail libraries send it', async () => {
  const head = '--B\r\ncontent-transfer-encoding: BASE64\r\ncontent-disposition: Form-Data; name="asset_file"; filename="a.gif"'
  expect(await uploaded(style, `${head}\r\n\r\n${btoa('GIF89a')}\r\n`)).toMatchObject({ status: 201, stored: ['GIF89a'] })
  expect(await uploaded(style, `${head}\r\n\r\n?!\r\n`)).toMatchObject(broken)
})

test('every byte of a large file in base64 is stored, with line breaks or without', async () => {
  const bytes = Buffer.alloc(
    3 * 1024 * 1024 + 1,
    String.fromCharCode(...Array.from({ length: 251 }, (_, byte) => byte)),
    'latin1',
  )
  const head = '--B\r\nContent-Transfer-Encoding: base64\r\nContent-Disposition: form-data; name="asset_file"; filename="a.bin"'
  const base64 = bytes.toString('base64')
  for (const content of [base64, base64.replace(/.{76}/g, '$&\r\n')]) {
    const { status, stored } = await uploaded(style, `${head}\r\n\r\n${content}\r\n`)
    expect([status, stored[0] === bytes.toString('latin1')]).toEqual([201, true])
  }
})

test('a text in base64 counts as it came against the limit of texts', async () => {
  const head = '--B\r\nContent-Transfer-Encoding: base64\r\nContent-Disposition: form-data; name="metadata"'
  const text = btoa('x'.repeat(900_000))
  expect(await uploaded(style, `${head}\r\n\r\n${text}\r\n`, file('name="asset_file"; filename="a.gif"'))).toMatchObject({
    status: 413,
    error: 'The texts in the form are larger than 1048576 bytes',
  })
})

test('what a browser sends for fields that were left empty counts as left out', async () => {
  const fields = ['source_url', 'metadata', 'original_aspect_ratio'].map((name) => part('B', name, ''))
  expect(await uploaded(style, ...fields, file('name="asset_file"; filename="a.gif"'))).toMatchObject({
    status: 201,
    stored: ['GIF89a'],
  })
  const noFile = file('name="asset_file"; filename=""', '')
  expect(await uploaded(style, noFile, part('B', 'source_url', downloadable))).toMatchObject({ status: 201, name: 'rose.png' })
  expect(await uploaded(style, noFile)).toMatchObject({ status: 400, error: 'asset_file or source_url is required' })
  expect(await uploaded(style, file('name="asset_file"; filename="a.gif"', ''))).toMatchObject({ status: 422 })
})

test.each([
  ['a part without a name', file('filename="a.gif"')],
  ['a part that is no field', '--B\r\nContent-Disposition: attachment; name="asset_file"\r\n\r\nGIF89a\r\n'],
  ['a part without a head', '--B\r\n\r\nGIF89a\r\n'],
  ['a head without an end', '--B\r\nContent-Disposition: form-data; name="asset_file"'],
])('%s makes a form invalid', async (_, invalid) => {
  expect(await uploaded(style, invalid)).toMatchObject(broken)
})

test('a form that was cut off is refused, and nothing is stored', async () => {
  const upload = await host()
  expect(await upload('; boundary=real', asset('real').replace(/--real--\r\n$/, ''))).toEqual(broken)
})

test('many parts are refused before they are parsed, under each spelling of the boundary', async () => {
  const upload = await host()
  const many = `${part('real', 'a', '').repeat(1002)}--real\r\nno part at all`
  const refused = { status: 413, error: 'The form has more than 1000 fields' }
  expect(await upload('; boundary=real', many)).toEqual(refused)
  expect(await upload('; xboundary=other; boundary=real', many)).toEqual(refused)
})

test('the heads of the parts have a limit together, and files have not', async () => {
  const upload = await host()
  const refused = { status: 413, error: 'The names and headers in the form are larger than 262144 bytes' }
  expect(await upload('; boundary=real', part('real', 'a'.repeat(262_144), '') + asset('real'))).toEqual(refused)
  expect(await upload('; boundary=real', part('real', 'a', '', `\r\n${'b: c\r\n'.repeat(50_000)}`) + asset('real'))).toEqual(
    refused,
  )
  const large = part('real', 'other', 'b: c\r\n'.repeat(50_000), '; filename="b.txt"')
  expect(await upload('; boundary=real', large + asset('real'))).toEqual({ status: 201, error: undefined })
})

// The margin is wide: it takes a fraction of a second, or minutes if a comparison begins anew at each dash.
test('a body of nothing but the dashes of its boundary costs no more than any other', { timeout: 60_000 }, async () => {
  const upload = await host()
  expect(await upload(`; boundary=${'-'.repeat(69)}x`, '-'.repeat(25 * 1024 * 1024))).toEqual(broken)
})
