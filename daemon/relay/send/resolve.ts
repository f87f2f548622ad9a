/**
 * Resolves names without `getaddrinfo` if possible. That runs on the four threads of file access. Four names whose servers do
 * not respond would block every write of this process, including a host's outbox.
 */
import { createSocket } from 'node:dgram'
import { lookup, Resolver } from 'node:dns/promises'
import { readFileSync } from 'node:fs'
import { platform } from 'node:os'
import { systemClock } from '../clock.ts'
import type { Address, Resolve } from './guard.ts'
import { systemLookup } from './system-lookup.ts'

/** Milliseconds, tries: name servers that never respond cost this much of an attempt's time. */
const resolverOptions = { timeout: 2000, tries: 2 }
/** Milliseconds for the other family once one has an address with a route: the resolution delay of RFC 8305, section 3. */
const resolutionDelay = 50
/** Of one family's addresses so many are looked at for a route. A stranger's name server may have thousands. */
const mostTried = 8

/** The names of a hosts file, `localhost` included. */
export function parseHosts(text: string): ReadonlyMap<string, readonly Address[]> {
  const hosts = new Map<string, Address[]>()
  const add = (name: string, address: string): void => {
    const known = hosts.get(name) ?? []
    if (!known.some((each) => each.address === address)) known.push({ address, family: address.includes(':') ? 6 : 4 })
    hosts.set(name, known)
  }
  for (const line of text.split('\n')) {
    const [address, ...names] = (line.split('#')[0] ?? '').trim().split(/\s+/)
    if (address) for (const name of names) add(name.toLowerCase(), address)
  }
  if (!hosts.has('localhost')) add('localhost', '127.0.0.1')
  return hosts
}

const hostsFile = platform() === 'win32' ? 'C:\\Windows\\System32\\drivers\\etc\\hosts' : '/etc/hosts'

/** Makes a value of the text of a file, again when the text is another one. A file that cannot be read has no text. */
function ofFile<T>(path: string, make: (text: string) => T): () => T {
  let made: { readonly text: string; readonly value: T } | undefined
  return () => {
    const text = textOf(path)
    if (made?.text !== text) made = { text, value: make(text) }
    return made.value
  }
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

/** Whether the system may find an address. No name server has it (`ENOTFOUND`, `ENODATA`), or none is there. */
const isLeftToSystem = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && ['ENOTFOUND', 'ENODATA', 'ECONNREFUSED'].includes(String(error.code))

/**
 * Whether this machine has a route to an address, which `getaddrinfo` checks in the same way: the system refuses to connect a UDP
 * socket otherwise. Nothing is sent.
 */
function hasRoute({ address, family }: Address): Promise<boolean> {
  const socket = createSocket(family === 6 ? 'udp6' : 'udp4')
  const connected = new Promise<boolean>((resolve) => {
    socket.on('error', () => resolve(false))
    socket.connect(443, address, (error?: Error) => resolve(!error))
  })
  return connected.finally(() => socket.close())
}

/**
 * Queries the addresses of both families in parallel. A family without a response delays the other by 50 ms at most, unless this
 * machine has no route to any of its addresses: then only the missing family can help.
 */
async function queryServers(resolver: Resolver, name: string, signal?: AbortSignal): Promise<readonly Address[]> {
  const found: Address[][] = []
  const failed: unknown[] = []

  /** Fails if this machine has no route to any address of the family. */
  async function query(place: number, family: number, response: Promise<readonly string[]>): Promise<void> {
    const addresses = await response.then(
      (all) => all.map((address) => ({ address, family })),
      (error: unknown) => {
        failed.push(error)
        throw error
      },
    )
    found[place] = addresses
    for (const each of addresses.slice(0, mostTried)) if (await hasRoute(each)) return
    throw new Error('no route to any address')
  }

  const cancel = (): void => resolver.cancel()
  let stopWaiting = (): void => undefined
  const shortly = (): Promise<void> =>
    new Promise((done) => {
      stopWaiting = systemClock.timer(resolutionDelay, done)
    })
  signal?.throwIfAborted()
  signal?.addEventListener('abort', cancel)
  try {
    const families = [query(0, 4, resolver.resolve4(name)), query(1, 6, resolver.resolve6(name))]
    const all = Promise.allSettled(families)
    await Promise.race([all, Promise.any(families).then(shortly, () => all)])
    // A response that comes after this is not used.
    const addresses = found.flat()
    if (addresses.length > 0) return addresses
    throw failed.find((error) => !isLeftToSystem(error)) ?? failed[0] ?? new Error(`${name} has no address`)
  } finally {
    signal?.removeEventListener('abort', cancel)
    stopWaiting()
    // A query without a response would keep the process alive until its last try is over.
    cancel()
  }
}

/**
 * Queries the hosts file, then the name servers, then (for search domains, mDNS and the like) the system.
 * @param newResolver makes a resolver for each name, because only all queries of one can be cancelled. It begins with the name
 *   servers that the machine has then; they change with its network.
 */
export function systemResolve(newResolver = () => new Resolver(resolverOptions)): Resolve {
  const hosts = ofFile(hostsFile, parseHosts)
  const querySystem = systemLookup((name) => lookup(name, { all: true }))

  return async (hostname, signal, isOwn) => {
    const name = hostname.toLowerCase().replace(/\.$/, '')
    const known = hosts().get(name.endsWith('.localhost') ? 'localhost' : name)
    if (known) return known
    try {
      return await queryServers(newResolver(), name, signal)
    } catch (error) {
      if (!isLeftToSystem(error)) throw error
      return querySystem(name, isOwn)
    }
  }
}
