/** The output of `folkmoot listen`: lines for people, or one object per line for programs. */

import { plainSentence, sentenceOf } from '../../../lib/events/sentences.ts'
import { changedHeader } from '../../../lib/outbox/headers.ts'
import { jsonLine, plain } from '../../json.ts'
import type { Output } from '../../output.ts'
import type { ListenFlags } from './flags.ts'
import type { Incoming } from './listener.ts'

export interface Shown {
  readonly incoming: Incoming
  /** How often this event has come, this time included. */
  readonly times: number
  /** Whether a key press sent it. */
  readonly resent: boolean
  readonly status: number
  /** Null: it was not forwarded. */
  readonly milliseconds: number | null
  readonly problem: string | null
}

export interface Show {
  /** Something that was reached: registered, connected. */
  step(kind: string, sentence: string, facts?: object): void
  warn(sentence: string): void
  delivery(shown: Shown): void
}

/** @param now milliseconds since 1970 */
export function createShow({ json, printJson, output }: ListenFlags, out: Output, now: () => number): Show {
  const time = () => new Date(now()).toTimeString().slice(0, 8)
  const object = (kind: string, facts: object) => out.line(jsonLine({ kind, at: new Date(now()).toISOString(), ...facts }))
  // Standard output is for bodies alone then.
  const line = (text: string) => (printJson ? out.warn(text) : out.line(text))

  return {
    step: (kind, sentence, facts = {}) => (json ? object(kind, facts) : line(sentence)),
    warn: (message) => (json ? object('warning', { message }) : out.warn(`${time()}  ${message}`)),
    delivery(shown) {
      const { incoming, times, resent, status, milliseconds, problem } = shown
      const { event_id, event_type, event, headers, raw } = incoming
      const result = { event_id, event_type, status, milliseconds, problem, times, resent }
      const changed = headers[changedHeader]
      if (json) return object('delivery', { ...result, bytes: raw.length, ...(output === 'full' ? { headers } : {}), event })
      const notes = [
        milliseconds === null ? 'not forwarded' : `${milliseconds} ms`,
        ...(changed === undefined ? [] : [`changed ${plain(changed)}`]),
        ...(times > 1 && !resent ? [`sent again: number ${times}`] : []),
        ...(resent ? ['re-sent by you'] : []),
        ...(problem === null ? [] : [problem]),
      ]
      const said = isEvent(event) ? `\n  ${plain(plainSentence(sentenceOf(event_type, event.payload)))}` : ''
      line(`${time()}  ${status}  ${plain(event_type).slice(0, 100)}  ${plain(event_id)}  ${notes.join(', ')}${said}`)
      if (output === 'full') {
        for (const [name, value] of Object.entries(headers)) line(`  ${name}: ${plain(value)}`)
        line(indented(incoming))
      }
      if (printJson) out.line(plain(Buffer.from(raw).toString('utf8')))
    },
  }
}

const isEvent = (event: unknown): event is { readonly payload: unknown } =>
  typeof event === 'object' && event !== null && 'payload' in event

function indented({ event, raw }: Incoming): string {
  const text = event === undefined ? Buffer.from(raw).toString('utf8') : JSON.stringify(event, null, 2)
  return text
    .split('\n')
    .map((each) => `  ${plain(each)}`)
    .join('\n')
}
