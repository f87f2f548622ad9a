/** The responses of the peers: values of the API's own responses, kept in memory. */
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import process from 'node:process'
import type { Kind } from './scenarios.ts'
import { firstMember } from './seeded.ts'

/** One response of the API for each kind of request. */
export type Models = Readonly<Record<Kind, string>>

type Value = Readonly<Record<string, unknown>>

export interface Records {
  /** A member. */
  byId(id: string): Value | undefined
  /** A page of 100 members, and one of 25. */
  readonly page: Value
  readonly shortPage: Value
  /** Keeps a post, and gives it with its id. */
  add(post: Value): Value
}

/** Members that a peer keeps: the ids that requests name. */
export const memberCount = 1000
/** More posts than this are not kept: the oldest make room. */
const kept = 1000

/** Requests the models from the benchmark, and makes members of them. */
export async function records(): Promise<Records> {
  const models = await new Promise<Models>((resolve) => void process.once('message', resolve))
  const [member, page, shortPage, post] = [models.byId, models.list, models.shortList, models.post].map(
    (text) => JSON.parse(text) as Value,
  )
  if (!member || !page || !shortPage || !post) throw new Error('a model is missing')
  const members = new Map(
    Array.from({ length: memberCount }, (_, place) => [
      String(firstMember + place),
      { ...member, id: String(firstMember + place) },
    ]),
  )
  const posts = new Map<string, Value>()
  let posted = 0
  return {
    byId: (id) => members.get(id),
    page,
    shortPage,
    add(given) {
      const id = String(posted++ % kept)
      const made = { ...post, ...given, id }
      posts.set(id, made)
      return made
    },
  }
}

/** Reports its address, and its usage on request. */
export function listening(port: number, token = 'none'): void {
  process.on('message', (message) => {
    if (message === 'usage') process.send?.({ cpu: process.cpuUsage(), rss: process.memoryUsage.rss() })
  })
  process.on('disconnect', () => process.exit(0))
  process.send?.({ port, token })
}

export const serving = (server: Server): void =>
  void server.listen(0, '127.0.0.1', () => listening((server.address() as AddressInfo).port))
