/** Connections that cannot be made: over a Unix socket, over TLS, and with settings that the server refuses. */
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { join } from 'node:path'
import { TLSSocket } from 'node:tls'
import { expect, onTestFinished, test } from 'vitest'
import { postgresOutbox, postgresStorage } from '../../../../adapters/storage/postgres.ts'
import { type Certificate, certificateFor } from '../../../support/certificate.ts'
import { createTestCommunity } from '../../../support/community.ts'
import { temporaryDirectory } from '../../../support/directory.ts'
import { testPostgres } from '../../../support/postgres.ts'

const server = await testPostgres()
const { hostname, port } = new URL(server.url)

/** A server that hands every connection on to PostgreSQL. */
async function forwarding(at: string | number, prepare: (near: Socket) => Promise<Socket> = async (near) => near) {
  const sockets = new Set<Socket>()
  const forwarder: Server = createServer(async (raw) => {
    const far = connect(Number(port), hostname)
    for (const socket of [raw, far]) {
      sockets.add(socket)
      socket
        .on('error', () => undefined)
        .on('close', () => {
          raw.destroy()
          far.destroy()
        })
    }
    const near = await prepare(raw)
    near.on('error', () => undefined)
    near.pipe(far).pipe(near)
  })
  forwarder.listen(at)
  await once(forwarder, 'listening')
  const stop = async () => {
    for (const socket of sockets) socket.destroy()
    await new Promise((closed) => forwarder.close(closed))
  }
  onTestFinished(stop)
  return { stop, port: (forwarder.address() as AddressInfo).port }
}

/** The server's side of TLS, after the message that requests it. */
const overTls =
  ({ key, cert }: Certificate) =>
  async (near: Socket): Promise<Socket> => {
    await once(near, 'readable')
    near.read(8)
    near.write('S')
    return new TLSSocket(near, { isServer: true, key, cert })
  }

const open = (url: string) => postgresStorage({ url, schema: server.newSchema(), connectTimeoutMs: 300 })

async function tried(url: string): Promise<unknown> {
  try {
    await (await open(url)).close()
    return 'open'
  } catch (error) {
    return error
  }
}

test('while the server of a Unix socket is down the API responds with 503 and Retry-After, and then works again', async () => {
  const directory = temporaryDirectory()
  const socket = join(directory, `.s.PGSQL.${port}`)
  const { stop } = await forwarding(socket)
  const url = new URL(server.url)
  url.searchParams.set('host', directory)
  const storage = await open(url.href)
  onTestFinished(() => storage.close())
  const community = await createTestCommunity({ storage })
  const response = async () => {
    const { status, headers } = await community.send('members.list')
    return [status, headers.get('retry-after')]
  }
  expect(await response()).toEqual([200, null])
  await stop()
  expect([
    await response(),
    (await community.send('tags.create', { body: { title: 'Roses', color: '#ff0000' } })).status,
  ]).toEqual([[503, '5'], 503])
  await forwarding(socket)
  expect(await response()).toEqual([200, null])
})

test('a certificate that no one vouches for is named with what to do, and its file in the address opens the storage', async () => {
  const made = certificateFor('localhost')
  const { port } = await forwarding(0, overTls(made))
  const url = Object.assign(new URL(server.url), { hostname: 'localhost', port: String(port) })
  url.searchParams.set('sslmode', 'verify-full')
  expect(await tried(url.href)).toMatchObject({
    code: 'unavailable',
    message: expect.stringMatching(
      /^PostgreSQL cannot be reached: self-signed certificate.*; sslrootcert=FILE in the address names/,
    ),
  })
  url.searchParams.set('sslrootcert', made.certFile)
  expect(await tried(url.href)).toBe('open')
  url.hostname = '127.0.0.1'
  expect(await tried(url.href)).toMatchObject({
    code: 'unavailable',
    message: expect.stringContaining("IP: 127.0.0.1 is not in the cert's list"),
  })
  url.searchParams.set('sslrootcert', '/nowhere/ca.pem')
  const outbox = await postgresOutbox({ url: url.href, schema: server.newSchema() }).catch((error: unknown) => error)
  for (const refused of [await tried(url.href), outbox])
    expect(refused).toMatchObject({ code: 'unavailable', message: expect.stringContaining("open '/nowhere/ca.pem'") })
})

test('a setting that the server does not know is named', async () => {
  const url = new URL(server.url)
  url.searchParams.set('options', '-c no_such_setting=1')
  expect(await tried(url.href)).toMatchObject({
    code: 'unavailable',
    message: 'PostgreSQL cannot be reached: unrecognized configuration parameter "no_such_setting"',
  })
})
