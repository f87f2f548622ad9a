/** What was done to a member, in words, for the panel and the command. The core does not load this file. */
import { webhookName } from '../../events/catalogue.ts'
import { type Sentence, sentenceOf } from '../../events/sentences.ts'
import { detailsText } from '../audit/details.ts'
import type { TimelineEntry } from './profile.ts'

/** Of the host's acts. Events have sentences. */
const words: Readonly<Record<string, string>> = {
  'member.role_changed': 'changed role',
  'member.added': 'was added',
  'member.banned': 'was banned',
  'member.removed': 'was removed',
  'member.unbanned': 'may join again',
  'member.erased': 'was erased',
}

/** The sentence of an event, of which the history has names instead of records. */
function eventSentence(member: string, action: string, about: readonly string[]): Sentence {
  const what = about.join(', ')
  const names = what === '' ? {} : { place: what, tag: what, badge: what, plan: what }
  return sentenceOf(action, { member, first_name: member, member_first_name: member, ...names })
}

/** An entry of the timeline of a member with this name. Reasons stand elsewhere, where they can be masked. */
export function happened(member: string, { action, about, details }: TimelineEntry): Sentence {
  const did = words[action] ?? (webhookName(action) ? eventSentence(member, action, about) : action)
  // Of an erased member the values are gone.
  const isChange = ['role', 'member_type', 'state'].some((name) => name in details)
  const changed = isChange ? [` (${detailsText(details).replace(/^(?:role|state): /, '')})`] : []
  return [...(typeof did === 'string' ? [did] : did), ...changed]
}
