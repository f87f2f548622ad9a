import { describe, expect, test, vi } from 'vitest'
import { inRanges, isPublicAddress } from '../../../../daemon/relay/addresses.ts'
import { checkUrl, type GuardSettings, guardedLookup, Refused, urlChecker } from '../../../../daemon/relay/send/guard.ts'
import { parseHosts } from '../../../../daemon/relay/send/resolve.ts'
import { isAddressRange } from '../../../../lib/base/reach.ts'

const strict: GuardSettings = { allowHttp: false, allowPrivate: false, allowAddresses: [], ports: [] }

const refusedUrls = [
  // Addresses written out, in every way that a parser understands.
  'https://127.0.0.1/',
  'https://127.1/',
  'https://127.0.1/',
  'https://2130706433/',
  'https://0x7f000001/',
  'https://0x7f.1/',
  'https://0177.0.0.1/',
  'https://017700000001/',
  'https://①②⑦.⓪.⓪.①/',
  'https://127。0。0。1/',
  'https://%31%32%37.0.0.1/',
  'https://127.0.0.1./',
  'https://0.0.0.0/',
  'https://0/',
  'https://10.0.0.1/',
  'https://10.255.255.255/',
  'https://100.64.0.1/',
  'https://100.100.100.200/',
  'https://169.254.169.254/latest/meta-data/',
  'https://169.254.0.1/',
  'https://172.16.0.1/',
  'https://172.31.255.255/',
  'https://192.0.0.192/',
  'https://192.0.2.1/',
  'https://192.88.99.1/',
  'https://192.168.0.1/',
  'https://198.18.0.1/',
  'https://198.19.255.255/',
  'https://198.51.100.1/',
  'https://203.0.113.1/',
  'https://224.0.0.1/',
  'https://239.255.255.255/',
  'https://240.0.0.1/',
  'https://255.255.255.255/',
  'https://168.63.129.16/',
  'https://[::]/',
  'https://[::1]/',
  'https://[0:0:0:0:0:0:0:1]/',
  'https://[::127.0.0.1]/',
  'https://[::ffff:127.0.0.1]/',
  'https://[::ffff:7f00:1]/',
  'https://[::ffff:169.254.169.254]/',
  'https://[::ffff:8.8.8.8]/',
  'https://[::ffff:0:127.0.0.1]/',
  'https://[64:ff9b::7f00:1]/',
  'https://[64:ff9b::10.0.0.1]/',
  'https://[64:ff9b::169.254.169.254]/',
  'https://[64:ff9b::a83f:8110]/',
  'https://[64:ff9b::]/',
  'https://[64:ff9b::1:808:808]/',
  'https://[64:ff9b:1::808:808]/',
  'https://[64:ff9c::808:808]/',
  'https://[64:ff9b:1::1]/',
  'https://[100::1]/',
  'https://[2001::1]/',
  'https://[2001:0:7f00:1::]/',
  'https://[2001:10::1]/',
  'https://[2001:db8::1]/',
  'https://[2002:7f00:1::]/',
  'https://[2002:a9fe:a9fe::1]/',
  'https://[3fff::1]/',
  'https://[5f00::1]/',
  'https://[fc00::1]/',
  'https://[fd00:ec2::254]/',
  'https://[fe80::1]/',
  'https://[febf::1]/',
  'https://[fec0::1]/',
  'https://[ff02::1]/',
  'https://[4000::1]/',
  // Other things than https to a public port.
  'http://example.com/',
  'ftp://example.com/',
  'file:///etc/passwd',
  'gopher://example.com/',
  'unix:/var/run/docker.sock',
  'javascript:alert(1)',
  'https://user@example.com/',
  'https://user:pass@example.com/',
  'https://good.example@127.0.0.1/',
  'https://example.com/#fragment',
  'https://example.com:22/',
  'https://example.com:25/',
  'https://example.com:80/',
  'https://example.com:0/',
  'https://example.com:70000/',
  'https://[fe80::1%25eth0]/',
  'https://',
  'example.com',
  '',
]

test('an address that was checked is checked again under other settings', () => {
  const check = urlChecker()
  const lenient = { ...strict, allowHttp: true }
  const asked = [lenient, lenient, strict, lenient].map((settings) => check('http://example.com/', settings).ok)
  expect(asked).toEqual([true, true, false, true])
  const urls = Array.from({ length: 3000 }, (_, place) => `https://example.com/${place}`)
  expect(urls.map((url) => check(url, strict))).toEqual(urls.map((url) => checkUrl(url, strict)))
})

describe('checkUrl', () => {
  test.each(refusedUrls)('refuses %s', (url) => {
    expect(checkUrl(url, strict)).toMatchObject({ ok: false })
  })

  test.each([
    ['https://example.com/hook?a=1', 'https://example.com', '/hook?a=1'],
    ['https://example.com:8443/', 'https://example.com:8443', '/'],
    ['https://example.com:5000', 'https://example.com:5000', '/'],
    ['https://93.184.216.34/x', 'https://93.184.216.34', '/x'],
    ['https://172.15.0.1/', 'https://172.15.0.1', '/'],
    ['https://172.32.0.1/', 'https://172.32.0.1', '/'],
    ['https://[2606:4700::1111]/', 'https://[2606:4700::1111]', '/'],
    ['https://[64:ff9b::8.8.8.8]/', 'https://[64:ff9b::808:808]', '/'],
    ['https://bücher.example/', 'https://xn--bcher-kva.example', '/'],
  ])('accepts %s', (url, origin, path) => {
    expect(checkUrl(url, strict)).toEqual({ ok: true, origin, path })
  })

  // On Node 22 `URL.canParse` refuses letters beyond ASCII from the moment in which V8 has compiled its caller.
  test('accepts letters beyond ASCII, however often it is asked', () => {
    for (let round = 0; round < 30_000; round++)
      if (!checkUrl('https://bücher.example/', strict).ok) throw new Error(`refused in round ${round}`)
  })

  test('accepts http, and its port, only where it is allowed', () => {
    const lenient = { ...strict, allowHttp: true }
    expect(checkUrl('http://example.com/', lenient).ok).toBe(true)
    expect(checkUrl('https://example.com:80/', lenient).ok).toBe(false)
    expect(checkUrl('http://127.0.0.1:8080/', lenient).ok).toBe(false)
  })

  test('accepts private addresses only where they are allowed, and then still no other port', () => {
    const lenient = { ...strict, allowPrivate: true }
    expect(checkUrl('https://127.0.0.1/', lenient).ok).toBe(true)
    expect(checkUrl('https://127.0.0.1:22/', lenient).ok).toBe(false)
    expect(checkUrl('https://127.0.0.1:22/', { ...lenient, ports: [22] }).ok).toBe(true)
  })

  test('accepts addresses of the allowed ranges, and no other that is not public', () => {
    const rules = { ...strict, allowAddresses: ['10.0.3.0/24', '192.168.7.9', 'fd12:3456::/32'] }
    for (const host of ['10.0.3.0', '10.0.3.255', '192.168.7.9', '[fd12:3456:ffff::1]', '93.184.216.34'])
      expect(checkUrl(`https://${host}/`, rules).ok, host).toBe(true)
    for (const host of ['10.0.2.255', '10.0.4.0', '192.168.7.8', '127.0.0.1', '169.254.169.254', '[fd12:3457::1]', '[::1]'])
      expect(checkUrl(`https://${host}/`, rules).ok, host).toBe(false)
    expect(checkUrl('https://10.0.3.5:22/', rules).ok).toBe(false)
    expect(checkUrl('http://10.0.3.5/', rules).ok).toBe(false)
  })

  test('never takes an address for one that it hides inside', () => {
    const rules = { ...strict, allowAddresses: ['10.0.3.0/24'] }
    for (const host of ['[::ffff:10.0.3.5]', '[::10.0.3.5]', '[64:ff9b::10.0.3.5]', '[2002:a00:305::]'])
      expect(checkUrl(`https://${host}/`, rules).ok, host).toBe(false)
  })

  test('never repeats the URL in its reason: it may hold a secret', () => {
    const checked = checkUrl('https://user:secret@example.com/?token=secret', strict)
    expect(checked.ok ? '' : checked.reason).not.toContain('secret')
  })
})

describe('isPublicAddress', () => {
  test.each([
    '8.8.8.8',
    '1.1.1.1',
    '100.63.255.255',
    '100.128.0.1',
    '169.253.0.1',
    '192.0.1.1',
    '2a00:1450::1',
    '2001:4860:4860::8888',
  ])('takes %s for public', (address) => expect(isPublicAddress(address)).toBe(true))
  test.each(['', 'example.com', '127.0.0.1', '::1', 'fe80::1%eth0', '2001:4860::8888%1', '1.1.1', '300.1.1.1'])(
    'does not take %j for public',
    (address) => expect(isPublicAddress(address)).toBe(false),
  )
})

describe('a range of addresses', () => {
  test.each(['10.0.3.5', '10.0.3.0/24', '0.0.0.0/0', '10.0.3.5/32', '::1', 'fd00::/8', '::/0', '2001:db8::1/128'])(
    'may be %s',
    (range) => expect(isAddressRange(range)).toBe(true),
  )
  test.each([
    '',
    '10.0.3',
    '10.0.3.0/33',
    '10.0.3.0/',
    '10.0.3.0/-1',
    '10.0.3.0/8/8',
    ' 10.0.3.5',
    'fd00::/129',
    'fe80::1%eth0',
    'host',
  ])('may not be %j', (range) => expect(isAddressRange(range)).toBe(false))

  test('counts its bits from the left, wherever its address lies in it', () => {
    const within = (range: string) => ['10.0.3.7', '10.0.4.7', '11.0.0.1'].map((address) => inRanges([range], address))
    expect(within('10.0.3.99/24')).toEqual([true, false, false])
    expect(within('10.0.0.0/8')).toEqual([true, true, false])
    expect(within('10.0.3.7')).toEqual([true, false, false])
    expect(inRanges(['::/0'], '10.0.3.7')).toBe(false)
    expect(inRanges(['0.0.0.0/0'], '::ffff:10.0.3.7')).toBe(false)
  })
})

describe('guardedLookup', () => {
  const address = (text: string) => ({ address: text, family: text.includes(':') ? 6 : 4 })
  const ask = (addresses: string[], settings = strict, all = true) =>
    new Promise((resolve, reject) => {
      const lookup = guardedLookup(
        async () => addresses.map(address),
        () => settings,
      )
      lookup('name.example', { all }, (error, found, family) => (error ? reject(error) : resolve(all ? found : [found, family])))
    })

  test('hands on public addresses only, also when they come mixed with others', async () => {
    await expect(ask(['127.0.0.1', '93.184.216.34', '::1'])).resolves.toEqual([address('93.184.216.34')])
  })

  test('hands on the addresses of allowed ranges too', async () => {
    const rules = { ...strict, allowAddresses: ['10.0.3.0/24'] }
    await expect(ask(['10.0.3.5', '127.0.0.1', '93.184.216.34'], rules)).resolves.toEqual([
      address('10.0.3.5'),
      address('93.184.216.34'),
    ])
    await expect(ask(['10.0.4.5'], rules)).rejects.toThrow(Refused)
  })

  test('refuses a name that has none, and one that stands for nothing', async () => {
    await expect(ask(['10.0.0.1', '::ffff:8.8.8.8'])).rejects.toThrow(Refused)
    await expect(ask([])).rejects.toThrow(Refused)
  })

  test('responds in both forms that Node requests', async () => {
    await expect(ask(['93.184.216.34'], strict, false)).resolves.toEqual(['93.184.216.34', 4])
    await expect(ask(['127.0.0.1'], { ...strict, allowPrivate: true }, false)).resolves.toEqual(['127.0.0.1', 4])
  })

  test('checks at every connection, so that a name that changes its address gains nothing', async () => {
    const addresses = [['93.184.216.34'], ['169.254.169.254']]
    const resolve = vi.fn(async () => (addresses.shift() ?? []).map(address))
    const lookup = guardedLookup(resolve, () => strict)
    const once = () => new Promise((done) => lookup('rebind.example', { all: true }, (error, found) => done(error ?? found)))
    expect(await once()).toEqual([address('93.184.216.34')])
    expect(await once()).toBeInstanceOf(Refused)
  })

  test('passes the failure of a look-up on', async () => {
    const lookup = guardedLookup(
      () => Promise.reject(Object.assign(new Error('no'), { code: 'ENOTFOUND' })),
      () => strict,
    )
    const error = await new Promise((done) => lookup('x.example', { all: true }, done))
    expect(error).toMatchObject({ code: 'ENOTFOUND' })
  })
})

describe('parseHosts', () => {
  test('reads names, comments and both families, and always has localhost', () => {
    const hosts = parseHosts('10.0.0.1 one ONE.example # two\n\n::1 one\n# 1.1.1.1 three')
    expect(hosts.get('one')).toEqual([
      { address: '10.0.0.1', family: 4 },
      { address: '::1', family: 6 },
    ])
    expect(hosts.get('one.example')).toEqual([{ address: '10.0.0.1', family: 4 }])
    expect([hosts.has('two'), hosts.has('three')]).toEqual([false, false])
    expect(hosts.get('localhost')).toEqual([{ address: '127.0.0.1', family: 4 }])
  })
})
