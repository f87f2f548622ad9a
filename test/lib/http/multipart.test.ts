/** Forms that a parser would need long for, and the ways to write a boundary. */
import { expect, test } from 'vitest'
import { createTestCommunity, request } from '../../support/community.ts'
import { testPorts } from '../../support/ports.ts'

async function host() {
  const { community, token } = await createTestCommunity({ ports: testPorts().ports })
  return async (type: string, body: string) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': `multipart/form-data${type}` }
    const answer = await request(community, 'POST', '/admin/v1/networks/1/assets', { body: Buffer.from(body, 'latin1'), headers })
    return { status: answer.status, error: answer.body.error }
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
