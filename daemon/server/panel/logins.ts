/** One-time links and sessions of the panel of a server, in memory alone, and as hashes of their secrets. */
import { createHash, randomBytes } from 'node:crypto'
import { BoundedMap } from '../../../lib/base/bounded.ts'
import type { Visitor } from '../../../lib/panel/index.ts'
import { type Clock, timeline } from '../../relay/clock.ts'

/** Links that may be open, and sessions that may exist, at a time: one more ends the oldest. */
const most = 100
/** Milliseconds that a session has. */
export const sessionMs = 12 * 60 * 60 * 1000
/** The longest and the usual time of a link, in seconds. */
export const longestLinkSeconds = 7 * 24 * 60 * 60
export const linkSeconds = 60 * 60

/** The rights of the person who opens a link. */
export type Rights = Pick<Visitor, 'actor' | 'networks' | 'access'>

export interface Logins {
  /**
   * A code that `enter` takes once, for so many milliseconds.
   * @returns the code, and its end by the clock of the machine, for people
   */
  link(rights: Rights, forMs: number): { readonly code: string; readonly expiresAt: number }
  /** Exchanges a code for the secret of a session; `undefined` for one that is unknown, used or over. */
  enter(code: string): string | undefined
  /** The rights of a session, as long as it lasts. */
  rightsOf(session: string): Rights | undefined
  leave(session: string): void
}

interface Entry {
  readonly rights: Rights
  readonly until: number
}

const hashOf = (secret: string): string => createHash('sha256').update(secret).digest('base64url')

/** A bounded number of secrets, each with its rights and its end. @param now milliseconds that never go back */
function secrets(now: () => number) {
  const entries = new BoundedMap<string, Entry>(most)
  return {
    add(rights: Rights, forMs: number): string {
      for (const [hash, { until }] of entries) if (until <= now()) entries.delete(hash)
      const secret = randomBytes(32).toString('base64url')
      entries.set(hashOf(secret), { rights, until: now() + forMs })
      return secret
    },
    find(secret: string): Rights | undefined {
      const entry = entries.get(hashOf(secret))
      return entry && entry.until > now() ? entry.rights : undefined
    },
    remove: (secret: string) => void entries.delete(hashOf(secret)),
  }
}

/** A clock that is set back prolongs neither a link nor a session. One that is set forward ends them early. */
export function createLogins(clock: Clock): Logins {
  const now = timeline(clock)
  const links = secrets(now)
  const sessions = secrets(now)
  return {
    link: (rights, forMs) => ({ code: links.add(rights, forMs), expiresAt: clock.now() + forMs }),
    enter(code) {
      const rights = links.find(code)
      if (!rights) return undefined
      links.remove(code)
      return sessions.add(rights, sessionMs)
    },
    rightsOf: (session) => sessions.find(session),
    leave: (session) => sessions.remove(session),
  }
}
