/**
 * Resolves names without `getaddrinfo` if possible. That runs on the four threads of file access. Four names whose servers do
 * not answer would block every write of this process, including a host's outbox.
 */
import { lookup, Resolver } from 'node:dns/promises'
import { readFileSync } from 'node:fs'
import type { Resolve } from './guard.ts'

type Address = { readonly address: string; readonly family: number }

/** Seconds, tries: a name server that does not answer costs this much of an attempt's time. */
const resolverOptions = { timeout: 2000, tries: 2 }
/** At most this many names at once go to `getaddrinfo`. */
const systemSlots = 2

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

/** Makes a value of the text of a file, anew when the text is another one. A file that cannot be read has no text. */
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

/** Asks the hosts file, then the name servers, then (for search domains, mDNS and the like) the system. */
export function systemResolve(): Resolve {
  const hosts = ofFile('/etc/hosts', parseHosts)
  // A resolver keeps the name servers that it began with. Those of the machine change with its network.
  const resolverNow = ofFile('/etc/resolv.conf', () => new Resolver(resolverOptions))
  let running = 0
  const waiting: (() => void)[] = []

  async function askServers(name: string): Promise<readonly Address[]> {
    const resolver = resolverNow()
    const [four, six] = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)])
    const found = [
      ...(four.status === 'fulfilled' ? four.value.map((address) => ({ address, family: 4 })) : []),
      ...(six.status === 'fulfilled' ? six.value.map((address) => ({ address, family: 6 })) : []),
    ]
    if (found.length > 0) return found
    const failed = [four, six].flatMap((each) => (each.status === 'rejected' ? [each.reason as unknown] : []))
    throw failed.find((error) => !isLeftToSystem(error)) ?? failed[0] ?? new Error(`${name} has no address`)
  }

  async function askSystem(name: string): Promise<readonly Address[]> {
    if (running >= systemSlots) await new Promise<void>((go) => waiting.push(go))
    running++
    try {
      return await lookup(name, { all: true })
    } finally {
      running--
      waiting.shift()?.()
    }
  }

  return async (hostname) => {
    const name = hostname.toLowerCase().replace(/\.$/, '')
    const known = hosts().get(name.endsWith('.localhost') ? 'localhost' : name)
    if (known) return known
    try {
      return await askServers(name)
    } catch (error) {
      if (!isLeftToSystem(error)) throw error
      return askSystem(name)
    }
  }
}
