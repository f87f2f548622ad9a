import { describe, expect, test } from 'vitest'
import { isExcepted, noProxyProblem } from '../../../daemon/relay/no-proxy.ts'
import { checkSettings } from '../../../daemon/relay/settings.ts'

test.each<readonly [string, string, number, boolean]>([
  ['*', 'example.org', 443, true],
  ['example.org', 'example.org', 443, true],
  ['example.org', 'www.Example.org', 443, true],
  ['.example.org', 'example.org', 443, true],
  ['*.example.org', 'a.b.example.org.', 443, true],
  ['example.org', 'badexample.org', 443, false],
  ['example.org:8443', 'example.org', 443, false],
  ['example.org:8443', 'example.org', 8443, true],
  ['a.example b.example,c.example', 'c.example', 443, true],
  ['10.0.0.0/8', '10.1.2.3', 443, true],
  ['10.0.0.0/8', '11.1.2.3', 443, false],
  ['10.0.0.3', '10.0.0.3', 443, true],
  ['10.0.0.3', 'a.10.0.0.3', 443, false],
  ['10.0.0.3:80', '10.0.0.3', 80, true],
  ['::1', '[::1]', 443, true],
  ['[::1]', '[::1]', 443, true],
  ['[::1]:443', '[::1]', 443, true],
  ['fd00::/8', '[fd00::1]', 443, true],
  [' , ', 'example.org', 443, false],
  // Ranges with a port.
  ['10.0.0.0/8:8443', '10.1.2.3', 8443, true],
  ['10.0.0.0/8:8443', '10.1.2.3', 443, false],
  ['[2001:db8::/32]:8443', '[2001:db8::7]', 8443, true],
  ['[2001:db8::/32]:8443', '[2001:db8::7]', 443, false],
  ['[2001:db8::]/32', '[2001:db8::7]', 443, true],
  ['[2001:db8::]/32:8443', '[2001:db8::7]', 8443, true],
  ['[2001:DB8::]/32:8443', '[2001:db9::7]', 8443, false],
  // Other ways to write names and addresses.
  ['example.org.', 'example.org', 443, true],
  ['example.org.', 'www.example.org.', 443, true],
  ['example.org.:8443', 'example.org', 8443, true],
  ['EXAMPLE.org', 'example.org', 443, true],
  ['bücher.example', 'xn--bcher-kva.example', 443, true],
  ['.BÜCHER.example', 'www.xn--bcher-kva.example', 443, true],
  ['xn--bcher-kva.example', 'xn--bcher-kva.example', 443, true],
  ['2001:db8:0:0:0:0:0:1', '[2001:db8::1]', 443, true],
  ['my_host', 'my_host', 443, true],
])('NO_PROXY=%s names %s:%i: %s', (list, host, port, expected) => {
  expect(noProxyProblem(list)).toBeUndefined()
  expect(isExcepted(list, host, port)).toBe(expected)
})

describe('NO_PROXY', () => {
  test.each([
    '0.0.3',
    '127.1',
    '0x7f000001',
    '10.*',
    'a*.example',
    '10.0.0.0/33',
    '10.0.0.0/8/8',
    '169.254/16',
    '10.0.0.1-10.0.0.9',
    'https://example.org',
    'user@example.org',
    'example.org/path',
    'example.org:0',
    'example.org:65536',
    'example.org:https',
    'example.org:',
    '[::1',
    '[example.org]',
    '[10.0.0.1]',
    '::1]:443',
    'fe80::1%eth0',
    '.',
    '*.',
    '<local>',
    'a b:c',
  ])('with an entry that names nothing is refused at the start: %s', (entry) => {
    expect(isExcepted(entry, 'example.org', 443)).toBe(false)
    expect(() => checkSettings({ noProxy: `one.example, ${entry}` })).toThrow(
      /^setting `noProxy` has at place [23] no name, address or range, each with or without a port/,
    )
  })
})
