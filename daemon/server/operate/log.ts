/** The log of a running server: sentences for people, with `--json` one object per line for programs. */
import { jsonLine, plainLines } from '../../json.ts'
import { fault, mostUnread, type Output } from '../../output.ts'

/** A request that got a response, or was dropped. It holds no token, no query and no body. */
export interface Access {
  readonly method: string
  /** Without the query. */
  readonly path: string
  /** 0: the client was gone before the response. */
  readonly status: number
  /** `tags.create`; null for no operation. */
  readonly operation: string | null
  readonly milliseconds: number
  readonly from: string | null
}

export interface Log {
  warn(sentence: string): void
  /** A fault of the server or of a part below it, with the details to find it. */
  fault(what: string, error: unknown, about?: Readonly<Record<string, unknown>>): void
  access(request: Access): void
}

/** The longest path in a log, in characters. */
const longestPath = 500

/** @param now milliseconds since 1970, for the lines of programs */
export function createLog(out: Output, json: boolean, now: () => number = Date.now): Log {
  const object = (fields: object): string => jsonLine({ time: new Date(now()).toISOString(), ...fields })
  const stackOf = (error: unknown): string => (error instanceof Error ? (error.stack ?? error.message) : String(error))
  return {
    warn: (sentence) => out.warn(json ? object({ level: 'warning', message: sentence }) : sentence),
    fault(what, error, about = {}) {
      if (json) return out.warn(object({ level: 'fault', what, ...about, error: fault(error), stack: stackOf(error) }))
      const named = Object.entries(about).map(([name, value]) => ` ${name}=${String(value)}`)
      out.warn(plainLines(`fault ${what}${named.join('')}: ${stackOf(error)}`))
    },
    access({ path, ...request }) {
      if ((out.unread?.() ?? 0) > mostUnread) return
      out.line(object({ level: 'access', path: path.slice(0, longestPath), ...request }))
    },
  }
}
