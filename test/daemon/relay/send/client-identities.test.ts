/** Client certificates and private authorities of endpoints: the relay never sends without those that they name. */
import { spawn } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:https'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { TLSSocket } from 'node:tls'
import { afterAll, describe, expect, onTestFinished, test } from 'vitest'
import { systemClock } from '../../../../daemon/relay/clock.ts'
import { startRelay } from '../../../../daemon/relay/index.ts'
import { readTlsFiles } from '../../../../daemon/relay/send/tls-files.ts'
import type { EndpointUpsert } from '../../../../lib/outbox/record.ts'
import { type Certificate, certificateFor } from '../../../support/certificate.ts'
import { connectProxy } from '../../../support/connect-proxy.ts'
import { temporaryDirectory } from '../../../support/directory.ts'
import { freePort } from '../../../support/free-port.ts'
import { bench, endpoint, event, receiver, type TestOutbox, until } from '../support.ts'
import { listening } from './support.ts'

const own = { extensions: 'basicConstraints=CA:TRUE' }
const keyFileOf = ({ certFile }: Certificate): string => join(dirname(certFile), 'key.pem')
const resolve = async () => [{ address: '127.0.0.1', family: 4 }]

/** A receiver in TLS that demands a certificate of one of these clients, if there are any. */
async function secureReceiver(server: Certificate, clients: readonly Certificate[] = []) {
  const seen: (string | undefined)[] = []
  const demand = { ca: clients.map(({ cert }) => cert), requestCert: true, rejectUnauthorized: true }
  const https = createServer(
    { key: server.key, cert: server.cert, ...(clients.length > 0 ? demand : {}) },
    (request, response) => {
      const [name] = [(request.socket as TLSSocket).getPeerCertificate().subject?.CN].flat()
      seen.push(name)
      request.resume().on('end', () => response.writeHead(204, { 'keep-alive': 'timeout=60' }).end())
    },
  )
  https.keepAliveTimeout = 60_000
  const port = await listening(https)
  return { url: `https://hook.example:${port}/`, seen, https }
}

/** A server of OpenSSL, which demands a certificate of one client, and says by an alert why it refuses another one. */
async function alerting(version: 'TLSv1.2' | 'TLSv1.3'): Promise<number> {
  const port = await freePort()
  const only = version === 'TLSv1.2' ? '-tls1_2' : '-tls1_3'
  const demand = ['-Verify', '1', '-verify_return_error', '-CAfile', client.certFile, '-www', only]
  const args = ['s_server', '-accept', `127.0.0.1:${port}`, '-cert', server.certFile, '-key', keyFileOf(server), ...demand]
  const process = spawn('openssl', args, { stdio: ['ignore', 'pipe', 'ignore'] })
  onTestFinished(() => void process.kill())
  for await (const chunk of process.stdout) if (String(chunk).includes('ACCEPT')) break
  return port
}

/** The file of names in a directory of its own. */
function namesFile(content: unknown): string {
  const path = join(temporaryDirectory(), 'identities.json')
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content))
  return path
}
const identityOf = (certificate: Certificate) => ({ cert: certificate.certFile, key: keyFileOf(certificate) })

const secured = (url: string, change: Partial<EndpointUpsert>): EndpointUpsert =>
  endpoint(url, { ...change, requires: ['client_identity', 'ca'].filter((name) => name in change) })

const files = mkdtempSync(join(tmpdir(), 'folkmoot-identities-'))
afterAll(() => rmSync(files, { recursive: true, force: true }))
const inFiles = (name: string): string => {
  mkdirSync(join(files, name))
  return join(files, name)
}
const server = certificateFor('hook.example', own, inFiles('server'))
const client = certificateFor('client-one', own, inFiles('client'))

describe('a receiver that demands a client certificate', () => {
  test('gets the one that the endpoint names, directly and through a proxy, and refuses another endpoint without one', async () => {
    const hook = await secureReceiver(server, [client])
    const clientIdentities = namesFile({ identities: { bank: identityOf(client) }, cas: { bank: server.certFile } })
    const proxy = await connectProxy()
    const all = await bench({ clientIdentities, retrySchedule: [0] }, { resolve })
    await all.append(
      secured(hook.url, { client_identity: 'bank', ca: 'bank' }),
      secured(`${hook.url}none`, { id: '8', ca: 'bank' }),
      event('one'),
    )
    await until(() => all.attempts.length === 2, 'both are tried')
    expect(all.attempts.find(({ endpoint_id }) => endpoint_id === '8')?.outcome).toMatch(/^(?:tls|reset)$/)
    expect(all.attempts.find(({ endpoint_id }) => endpoint_id === '7')).toMatchObject({ outcome: 'delivered' })
    await all.remove('8')
    await all.restart({ proxy: proxy.url })
    await all.append(event('two'))
    await until(() => hook.seen.length === 2, 'the next one comes through the proxy')
    expect(proxy.connected).toHaveLength(1)
    expect(hook.seen).toEqual(['client-one', 'client-one'])
  })

  test('gets the new certificate after a reload, and the connection with the old one is closed', async () => {
    const renewed = certificateFor('client-two', own, temporaryDirectory())
    const hook = await secureReceiver(server, [client, renewed])
    const place = temporaryDirectory()
    const [cert, key] = [join(place, 'client.pem'), join(place, 'client.key')]
    const put = (from: Certificate): void => {
      copyFileSync(from.certFile, cert)
      copyFileSync(keyFileOf(from), key)
    }
    put(client)
    const clientIdentities = join(place, 'identities.json')
    writeFileSync(
      clientIdentities,
      JSON.stringify({ identities: { bank: { cert: 'client.pem', key: 'client.key' } }, cas: { bank: server.certFile } }),
    )
    const settings = { allowHttp: true, allowPrivate: true, retrySchedule: [0], clientIdentities }
    const all = await bench(settings, { resolve })
    await all.append(secured(hook.url, { client_identity: 'bank', ca: 'bank' }), event('one'))
    await until(() => hook.seen.length === 1, 'the first one comes')
    const open = () => new Promise<number>((done) => hook.https.getConnections((_, count) => done(count)))
    expect(await open()).toBe(1)

    writeFileSync(key, readFileSync(keyFileOf(renewed)))
    expect(() => all.relay.reconfigure(settings)).toThrow(`identity \`bank\`: ${key} is not the key of ${cert}`)
    await all.append(event('two'))
    await until(() => hook.seen.length === 2, 'the old one stays in use')

    put(renewed)
    all.relay.reconfigure(settings)
    await until(async () => (await open()) === 0, 'the connection of the old one is closed')
    await all.append(event('three'))
    await until(() => hook.seen.length === 3, 'the next one comes')
    expect(hook.seen).toEqual(['client-one', 'client-one', 'client-two'])
  })
})

test('a private authority is trusted for the endpoint that names it alone, which trusts no other', async () => {
  const other = certificateFor('hook.example', own, temporaryDirectory())
  const [hook, unnamed] = [await secureReceiver(server), await secureReceiver(other)]
  const clientIdentities = namesFile({ cas: { bank: server.certFile } })
  const all = await bench({ clientIdentities, ca: String(other.cert), retrySchedule: [0] }, { resolve })
  await all.append(
    secured(hook.url, { id: '1', ca: 'bank' }),
    secured(`${hook.url}?2`, { id: '2' }),
    secured(unnamed.url, { id: '3' }),
    secured(`${unnamed.url}?4`, { id: '4', ca: 'bank' }),
    event('one'),
  )
  await until(() => all.attempts.length === 4, 'all are tried')
  const outcomes = Object.fromEntries(all.attempts.map(({ endpoint_id, outcome }) => [endpoint_id, outcome]))
  expect(outcomes).toEqual({ 1: 'delivered', 2: 'tls', 3: 'delivered', 4: 'tls' })
})

describe('an endpoint is sent nothing, and its deliveries wait, while the relay', () => {
  test.each<readonly [string, Partial<EndpointUpsert>, string]>([
    [
      'does not have its identity',
      { client_identity: 'bank' },
      'it needs the client identity `bank`, which this relay does not have',
    ],
    ['does not have its authority', { ca: 'bank' }, 'it needs the authority `bank`, which this relay does not have'],
  ])('%s', async (_, change, problem) => {
    const hook = await secureReceiver(server)
    const clientIdentities = namesFile({})
    const settings = { allowHttp: true, allowPrivate: true, retrySchedule: [0], clientIdentities }
    const all = await bench({ ...settings, ca: String(server.cert) }, { resolve })
    await all.append(secured(hook.url, change), secured(`${hook.url}?8`, { id: '8' }), event('one'))
    await until(() => all.attempts.length === 1 && all.notices.length === 1, 'the other one gets the event')
    expect(all.notices).toMatchObject([{ kind: 'endpoint.unreadable', endpoint_id: '7', text: expect.stringContaining(problem) }])
    expect(all.attempts).toMatchObject([{ endpoint_id: '8', outcome: 'delivered' }])
    writeFileSync(clientIdentities, JSON.stringify({ identities: { bank: identityOf(client) }, cas: { bank: server.certFile } }))
    all.relay.reconfigure({ ...settings, ca: String(server.cert) })
    await until(() => hook.seen.length === 2, 'it is delivered when the relay has it')
    expect(all.notices.map(({ kind }) => kind)).toEqual(['endpoint.unreadable', 'endpoint.readable'])
  })

  test('has a certificate that expired, at the start and meanwhile', async () => {
    const expired = certificateFor('client-old', { ...own, days: -1 }, temporaryDirectory())
    const hook = await secureReceiver(server, [client])
    const clientIdentities = namesFile({
      identities: { old: identityOf(expired), bank: identityOf(client) },
      cas: { bank: server.certFile },
    })
    let ahead = 0
    const clock = {
      now: () => Date.now() + ahead,
      monotonic: () => performance.now(),
      timer: (milliseconds: number, done: () => void) => {
        const timer = setTimeout(done, milliseconds)
        return () => clearTimeout(timer)
      },
    }
    const all = await bench({ clientIdentities, retrySchedule: [0] }, { resolve, clock })
    await all.append(
      secured(`${hook.url}?8`, { id: '8', client_identity: 'old', ca: 'bank' }),
      secured(hook.url, { client_identity: 'bank', ca: 'bank' }),
      event('one'),
    )
    await until(() => all.attempts.length === 1 && all.notices.length === 1, 'the other one gets the event')
    expect(all.notices).toMatchObject([{ endpoint_id: '8', text: expect.stringContaining('`old`, which expired at ') }])
    ahead = 31 * 86_400_000
    await all.append(event('two'))
    await until(() => all.notices.length === 2, 'the second one expires')
    expect(all.notices[1]).toMatchObject({ endpoint_id: '7', text: expect.stringContaining('`bank`, which expired at ') })
    expect(all.attempts).toMatchObject([{ outcome: 'delivered' }])
    expect(hook.seen).toEqual(['client-one'])
  })
})

const halfOf = (text: string): string => text.slice(0, text.length / 2)
const encrypted = '-----BEGIN ENCRYPTED PRIVATE KEY-----\nMIIB\n-----END ENCRYPTED PRIVATE KEY-----\n'

test.each<readonly [string, (file: (name: string, text: string) => string) => unknown, string]>([
  ['no JSON', () => '{"identities": secret', 'it must hold one JSON object'],
  ['another name', () => ({ clients: {} }), 'it may have `identities` and `cas` alone'],
  ['a list', () => ({ identities: [] }), '`identities` must be an object of at most 1000 names'],
  ['a bad name', () => ({ cas: { 'a b': 'x' } }), 'a name in `cas` must be 1 to 100 letters'],
  ['no key', () => ({ identities: { a: { cert: 'x' } } }), 'identity `a`: it must have `cert` and `key` alone'],
  ['a file that is missing', () => ({ cas: { a: 'nowhere.pem' } }), 'nowhere.pem cannot be read (ENOENT)'],
  ['a file without certificates', (file) => ({ cas: { a: file('a.pem', 'secret') } }), 'a.pem must hold certificates as PEM'],
  [
    'a broken certificate',
    (file) => ({ cas: { a: file('a.pem', '-----BEGIN CERTIFICATE-----\nsecret\n-----END CERTIFICATE-----') } }),
    'a.pem must hold certificates as PEM',
  ],
  [
    'a key of another certificate',
    () => ({ identities: { a: { cert: client.certFile, key: keyFileOf(server) } } }),
    `${keyFileOf(server)} is not the key of ${client.certFile}`,
  ],
  [
    'an encrypted key',
    (file) => ({ identities: { a: { cert: client.certFile, key: file('k.pem', encrypted) } } }),
    'k.pem is encrypted: decrypt it',
  ],
  [
    'no key in the file',
    (file) => ({ identities: { a: { cert: client.certFile, key: file('k.pem', 'secret') } } }),
    'k.pem must hold the private key as PEM',
  ],
  [
    'an empty key',
    (file) => ({ identities: { a: { cert: client.certFile, key: file('k.pem', '') } } }),
    'k.pem must hold the private key as PEM',
  ],
  [
    'a key of blanks',
    (file) => ({ identities: { a: { cert: client.certFile, key: file('k.pem', ' \n') } } }),
    'k.pem must hold the private key as PEM',
  ],
  [
    'half of a key',
    (file) => ({ identities: { a: { cert: client.certFile, key: file('k.pem', halfOf(String(client.key))) } } }),
    'k.pem must hold the private key as PEM',
  ],
  [
    'an empty certificate',
    (file) => ({ identities: { a: { cert: file('c.pem', ''), key: keyFileOf(client) } } }),
    'c.pem must hold',
  ],
  ['an empty authority', (file) => ({ cas: { a: file('a.pem', '') } }), 'a.pem must hold certificates as PEM'],
  ...[5, 30, -400, -10].map(
    (cut) =>
      [
        `a second certificate of an authority that is cut at ${cut}`,
        (file: (name: string, text: string) => string) => ({
          cas: { a: file('a.pem', `${server.cert}${String(client.cert).slice(0, cut)}`) },
        }),
        'a.pem must hold certificates as PEM, all of them whole',
      ] as const,
  ),
  [
    'a chain whose second certificate is cut off',
    (file) => ({
      identities: { a: { cert: file('c.pem', `${client.cert}${halfOf(String(server.cert))}`), key: keyFileOf(client) } },
    }),
    'c.pem must hold the certificate as PEM',
  ],
  ['a large file', (file) => ({ cas: { a: file('a.pem', 'x'.repeat(1024 * 1024 + 1)) } }), 'a.pem is larger than 1 MiB'],
])('a file of client identities with %s is refused with a sentence', (_, content, problem) => {
  const directory = temporaryDirectory()
  const file = (name: string, text: string): string => {
    writeFileSync(join(directory, name), text)
    return join(directory, name)
  }
  const path = namesFile(content(file))
  expect(() => readTlsFiles(path)).toThrow(problem)
  expect(() => readTlsFiles(path)).toThrow(`client identities ${path}: `)
  expect(() => readTlsFiles(path)).not.toThrow(/secret/)
})

test.each(['client.pem', 'client.key'])('a reload keeps what the relay has while %s is empty', async (emptied) => {
  const hook = await secureReceiver(server, [client])
  const place = temporaryDirectory()
  copyFileSync(client.certFile, join(place, 'client.pem'))
  copyFileSync(keyFileOf(client), join(place, 'client.key'))
  const clientIdentities = join(place, 'identities.json')
  const identities = { bank: { cert: 'client.pem', key: 'client.key' } }
  writeFileSync(clientIdentities, JSON.stringify({ identities, cas: { bank: server.certFile } }))
  const settings = { allowPrivate: true, retrySchedule: [0], clientIdentities }
  const all = await bench(settings, { resolve })
  await all.append(secured(hook.url, { client_identity: 'bank', ca: 'bank' }))
  writeFileSync(join(place, emptied), '')
  expect(() => all.relay.reconfigure(settings)).toThrow(`${join(place, emptied)} must hold`)
  await all.append(event('one'))
  await until(() => all.attempts.length === 1, 'it is tried')
  expect(hook.seen).toEqual(['client-one'])
})

test('what is not valid yet is not sent with, and a reload does not take it', async () => {
  const clientIdentities = namesFile({ identities: { bank: identityOf(client) }, cas: { bank: server.certFile } })
  const yesterday = { ...systemClock, now: () => Date.now() - 86_400_000 }
  const hook = await secureReceiver(server, [client])
  const settings = { allowPrivate: true, retrySchedule: [0], clientIdentities }
  const all = await bench(settings, { resolve, clock: yesterday })
  await all.append(secured(hook.url, { client_identity: 'bank', ca: 'bank' }), event('one'))
  await until(() => all.notices.length === 1, 'it is set aside')
  expect(all.notices).toMatchObject([{ text: expect.stringContaining('`bank`, which is not valid before ') }])
  expect(() => all.relay.reconfigure(settings)).toThrow('`bank` is not valid before ')
  expect([all.attempts, hook.seen]).toEqual([[], []])
})

test.each([{ client_identity: 'bank' }, { ca: 'bank' }, { client_identity: 'bank', ca: 'bank' }])(
  'an endpoint in plain HTTP that has %j is set aside',
  async (change) => {
    const hook = await receiver()
    const clientIdentities = namesFile({ identities: { bank: identityOf(client) }, cas: { bank: server.certFile } })
    const all = await bench({ clientIdentities })
    await all.append(secured(hook.url, change), endpoint(`${hook.url}?8`, { id: '8' }), event('one'))
    await until(() => all.attempts.length === 1 && all.notices.length === 1, 'the other one gets the event')
    expect(all.notices).toMatchObject([{ endpoint_id: '7', text: expect.stringContaining('an `http:` URL cannot use') }])
    expect(hook.received.map(({ path }) => path)).toEqual(['/hook?8'])
  },
)

describe.each(['TLSv1.2', 'TLSv1.3'] as const)('a receiver in %s that refuses with an alert', (version) => {
  test.each([
    ['a client without a certificate', {}],
    ['the certificate of the client', { client_identity: 'bank' }],
  ])('%s is a failure of TLS', async (_, change) => {
    const port = await alerting(version)
    const stranger = certificateFor('stranger', own, temporaryDirectory())
    const clientIdentities = namesFile({ identities: { bank: identityOf(stranger) }, cas: { bank: server.certFile } })
    const all = await bench({ clientIdentities, retrySchedule: [0] }, { resolve })
    await all.append(secured(`https://hook.example:${port}/`, { ca: 'bank', ...change }), event('one'))
    await until(() => all.attempts.length === 1, 'it is tried')
    expect(all.attempts).toMatchObject([{ outcome: 'tls', reason: expect.stringMatching(/^ERR_SSL_.*ALERT/) }])
  })
})

test('the expiry of each certificate is a metric, and an embedded relay reads the files again when it is asked', async () => {
  const clientIdentities = namesFile({ identities: { bank: identityOf(client) }, cas: { bank: server.certFile } })
  const outbox: TestOutbox['address'] = temporaryDirectory()
  const relay = await startRelay({ storage: outbox, clientIdentities })
  try {
    const days = async (name: string) => {
      const [, seconds] = new RegExp(`^${name} (\\S+)$`, 'm').exec(await relay.metrics()) ?? []
      return seconds === undefined ? undefined : Math.ceil(Number(seconds) / 86_400)
    }
    expect(await days('relay_client_identity_expires_seconds{identity="bank"}')).toBe(30)
    expect(await days('relay_ca_expires_seconds{ca="bank"}')).toBe(30)
    writeFileSync(clientIdentities, '{')
    expect(() => relay.reload()).toThrow('it must hold one JSON object')
    expect(await days('relay_ca_expires_seconds{ca="bank"}')).toBe(30)
    writeFileSync(clientIdentities, '{}')
    relay.reload()
    expect(await days('relay_ca_expires_seconds{ca="bank"}')).toBeUndefined()
  } finally {
    await relay.stop(0)
  }
})
