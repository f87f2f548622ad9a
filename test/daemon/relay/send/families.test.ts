import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type LookupFunction } from 'node:net'
import { resolve as resolvePath } from 'node:path'
import { execPath } from 'node:process'
import { describe, expect, onTestFinished, test } from 'vitest'
import { guardedDownloads } from '../../../../adapters/ports/download.ts'
import { guardedLookup } from '../../../../daemon/relay/send/guard.ts'
import { onLoopback } from '../../../support/on-loopback.ts'
import { attempt, listening, nameServer, ok, type Reply, senderWith } from './support.ts'

const four = '127.0.0.1'
const six = '::1'
const has = (...addresses: string[]): Reply => ({ addresses })
/** An address that no machine has a route to: it says nothing about the link. */
const unroutable = 'fe80::1'

/** Milliseconds below which no one has waited for a name server to stay silent, which takes two seconds and more. */
const soon = 1500

/** The addresses of a name with these replies, and the milliseconds that it took. */
async function look(a: Reply, aaaa: Reply) {
  const { resolve } = await nameServer({ a, aaaa })
  const begin = performance.now()
  const found = await resolve('name.example').then(
    (all) => all.map(({ address }) => address),
    (error: { code?: string }) => error.code,
  )
  return { found, took: performance.now() - begin }
}

describe('a name server that', () => {
  test.each<[string, Reply, Reply, string[]]>([
    ['answers for IPv4 alone', has(four), { silent: true }, [four]],
    ['answers for IPv6 alone', { silent: true }, has(six), [six]],
    ['answers late for IPv6', has(four), { ...has(six), after: 1900 }, [four]],
    ['answers late for IPv4', { ...has(four), after: 1900 }, has(six), [six]],
    ['answers for IPv4 late, and never for IPv6', { ...has(four), after: 300 }, { silent: true }, [four]],
    ['answers late for both', { ...has(four), after: 300 }, { ...has(six), after: 310 }, [four, six]],
    ['answers for both', has(four), has(six), [four, six]],
    ['fails for IPv6', has(four), { code: 2 }, [four]],
    ['fails for IPv4', { code: 2 }, has(six), [six]],
    ['denies the name for IPv6', has(four), { code: 3 }, [four]],
    ['has nothing for IPv4, and IPv6 late', {}, { ...has(six), after: 300 }, [six]],
    ['fails for IPv4, and has IPv6 late', { code: 2 }, { ...has(six), after: 300 }, [six]],
    ['denies the name for IPv6, and has IPv4 late', { ...has(four), after: 300 }, { code: 3 }, [four]],
  ])('%s delays nothing by its silence', async (_, a, aaaa, expected) => {
    const { found, took } = await look(a, aaaa)
    expect(found).toEqual(expected)
    expect(took).toBeLessThan(soon)
  })

  test('responds first with addresses that this machine has no route to is waited for', async () => {
    const late = { ...has(four), after: 400 }
    expect(await look(late, has(unroutable))).toMatchObject({ found: [four, unroutable] })
    expect(await look({ code: 2 }, has(unroutable))).toMatchObject({ found: [unroutable] })
  })

  test('never responds for any family fails in its own time', async () => {
    expect(await look({ code: 2 }, { code: 2 })).toMatchObject({ found: 'ESERVFAIL' })
  })

  test('drops IPv6 costs each of many attempts as little, and its late responses are not dialled', async () => {
    const server = createServer(
      (socket) => void socket.on('data', () => socket.end(ok.replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n'))),
    )
    const port = await listening(server)
    const { resolve, questions } = await nameServer({ a: has(four), aaaa: { silent: true } })
    const send = senderWith({ timeout: 10 }, resolve)
    for (let count = 0; count < 4; count++) {
      const { result, milliseconds } = await send(`http://name.example:${port}/`)
      expect(result).toBe('delivered')
      expect(milliseconds).toBeLessThan(soon)
    }
    expect(questions).toEqual({ a: 4, aaaa: 4 })
  })

  test('drops a family does not open the guard for the other', async () => {
    for (const [a, aaaa] of [
      [has('10.0.0.1'), { silent: true }],
      [{ silent: true }, has(six)],
    ] as const) {
      const { resolve } = await nameServer({ a, aaaa })
      expect(await attempt('http://name.example/', { allowPrivate: false, timeout: 1 }, resolve)).toMatchObject({
        result: 'blocked',
      })
    }
  })

  test('drops IPv6 delays no download either', async () => {
    const origin = await onLoopback((_, response) => void response.end('file'))
    const { resolve } = await nameServer({ a: has(four), aaaa: { silent: true } })
    const lookup: LookupFunction = guardedLookup(resolve, () => ({
      allowHttp: true,
      allowPrivate: true,
      allowAddresses: [],
      ports: [],
    }))
    const { get } = guardedDownloads({ allows: () => true, lookup })
    const begin = performance.now()
    expect(await get(origin.replace(four, 'name.example'), 1000)).toMatchObject({ ok: true })
    expect(performance.now() - begin).toBeLessThan(soon)
  })
})

/** Begins a look-up of a name that a name server does not answer for, in a process that then has nothing else to do. */
async function lookAndEnd(replies: { a: Reply; aaaa: Reply }, signal: string): Promise<{ code: number; took: number }> {
  const { port } = await nameServer(replies)
  const program = `
    import { Resolver } from 'node:dns/promises'
    import { systemResolve } from ${JSON.stringify(resolvePath('daemon/relay/send/resolve.ts'))}
    const begin = performance.now()
    process.on('exit', () => console.log(performance.now() - begin))
    const resolve = systemResolve(() => {
      const resolver = new Resolver({ timeout: 2000, tries: 2 })
      resolver.setServers(['127.0.0.1:${port}'])
      return resolver
    })
    await resolve('name.example', ${signal}).catch(() => undefined)`
  const child = spawn(execPath, ['--input-type=module', '--eval', program], { stdio: ['ignore', 'pipe', 'inherit'] })
  onTestFinished(() => void child.kill())
  const text: string[] = []
  child.stdout.on('data', (chunk: Buffer) => text.push(chunk.toString()))
  const [code] = (await once(child, 'close')) as [number]
  return { code, took: Number(text.join('')) }
}

test('a query without a response keeps no process alive', async () => {
  const { code, took } = await lookAndEnd({ a: has(four), aaaa: { silent: true } }, 'new AbortController().signal')
  expect(code).toBe(0)
  expect(took).toBeLessThan(soon)
  const stopped = await lookAndEnd({ a: { silent: true }, aaaa: { silent: true } }, 'AbortSignal.timeout(100)')
  expect(stopped.code).toBe(0)
  expect(stopped.took).toBeLessThan(soon)
})
