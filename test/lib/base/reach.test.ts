import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isPublicAddress } from '../../../daemon/relay/addresses.ts'
import { refusedByDefault } from '../../../lib/base/reach.ts'

test.each([
  ['a private address', 'https://10.0.0.1/', '10.0.0.1'],
  ['a decimal address', 'https://2130706433/', '127.0.0.1'],
  ['a hexadecimal address', 'https://0x7f000001/', '127.0.0.1'],
  ['an octal address', 'https://0177.0.0.1/', '127.0.0.1'],
  ['a short address', 'https://127.1/', '127.0.0.1'],
  ['an address in full-width digits', 'https://１２７.0.0.1/', '127.0.0.1'],
  ['the metadata of a cloud', 'https://169.254.169.254/latest', '169.254.169.254'],
  ['the address of nobody', 'https://0.0.0.0/', '0.0.0.0'],
  ['loopback in IPv6', 'https://[::1]/', '[::1]'],
  ['an IPv4-mapped address', 'https://[::ffff:127.0.0.1]/', '[::ffff:7f00:1]'],
  ['a NAT64 address', 'https://[64:ff9b::10.0.0.1]/', '[64:ff9b::a00:1]'],
  ['a link-local address', 'https://[fe80::1]/', '[fe80::1]'],
  ['a unique local address', 'https://[fd00:ec2::254]/', '[fd00:ec2::254]'],
])('%s is refused by default, with the settings that allow it', (_, url, shown) => {
  expect(refusedByDefault(url)).toBe(`${shown} is not a public address (setting \`allowAddresses\` or \`allowPrivate\`)`)
})

test.each([
  ['https://localhost/', 'localhost is this machine (setting `allowPrivate`)'],
  ['https://LOCALHOST./', 'localhost. is this machine (setting `allowPrivate`)'],
  ['https://api.localhost/', 'api.localhost is this machine (setting `allowPrivate`)'],
  ['https://example.org:22/', 'port 22 is not allowed (setting `ports`)'],
  ['https://example.org:80/', 'port 80 is not allowed (setting `ports`)'],
  ['http://example.org/', 'it is not https (setting `allowHttp`)'],
  [
    'http://127.0.0.1:25/',
    'it is not https (setting `allowHttp`), and port 25 is not allowed (setting `ports`), and 127.0.0.1 is not a public address (setting `allowAddresses` or `allowPrivate`)',
  ],
])('%s is refused by default: %s', (url, reason) => {
  expect(refusedByDefault(url)).toBe(reason)
})

test.each([
  'https://example.org/hook',
  'https://example.org:8443/',
  'https://8.8.8.8/',
  'https://[2606:4700::1111]/',
  'https://[64:ff9b::8.8.8.8]/',
  'https://notlocalhost/',
  'https://localhost.example.org/',
])('%s may be reached', (url) => {
  expect(refusedByDefault(url)).toBeUndefined()
})

test('agrees with the relay about every address', () => {
  const interesting = fc.constantFrom(
    0n,
    1n,
    0x7f000001n,
    0x0a000001n,
    0xffffffffn,
    0x2001n << 112n,
    0x2002n << 112n,
    0x3fffn << 112n,
  )
  const ipv4 = fc.ipV4()
  const nat64 = fc.ipV4().map((address) => `64:ff9b::${address}`)
  const ipv6 = fc
    .tuple(fc.oneof(fc.bigInt(0n, (1n << 128n) - 1n), interesting), fc.bigInt(0n, 0xffffn))
    .map(([value, low]) => ((value ^ low) & ((1n << 128n) - 1n)).toString(16).padStart(32, '0').match(/.{4}/g)?.join(':') ?? '')
  fc.assert(
    fc.property(fc.oneof(ipv4, ipv6, nat64), (address) => {
      const { hostname } = new URL(`https://${address.includes(':') ? `[${address}]` : address}/`)
      const isPublic = isPublicAddress(hostname.replace(/^\[|\]$/g, ''))
      expect(refusedByDefault(`https://${hostname}/`) === undefined).toBe(isPublic)
    }),
    { numRuns: 2000 },
  )
})
