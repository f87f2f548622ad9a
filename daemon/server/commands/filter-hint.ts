/** Why an event is not what the filter of an endpoint wants, and which flag of `trigger` changes that. */
import { fieldsOfUpdate, type WebhookName } from '../../../lib/events/catalogue.ts'
import { type Filter, matchesFilter, usesChanged } from '../../../lib/outbox/filter.ts'

/** What is known of an event; the other part is as the filter wants it. */
type Known = { readonly payload: unknown } | { readonly changed: readonly string[] }

function canMatch(filter: Filter, known: Known, wanted = true): boolean {
  if ('not' in filter) return canMatch(filter.not, known, !wanted)
  const list = 'all' in filter ? filter.all : 'any' in filter ? filter.any : undefined
  if (list)
    return 'all' in filter === wanted
      ? list.every((each) => canMatch(each, known, wanted))
      : list.some((each) => canMatch(each, known, wanted))
  if ('changed' in filter) return !('changed' in known) || matchesFilter(filter, null, known.changed) === wanted
  return !('payload' in known) || matchesFilter(filter, known.payload) === wanted
}

/** The end of a sentence about an event that the filter does not match. */
export function filterHint(filter: Filter, name: WebhookName, payload: unknown): string {
  const namesNone = fieldsOfUpdate(name).length === 0
  if (!usesChanged(filter) || (namesNone && canMatch(filter, { changed: [] })))
    return 'its filter does not match the payload. --field changes that.'
  if (namesNone) return `its filter is about changed fields, and ${name}Hook names none.`
  return canMatch(filter, { payload })
    ? 'its filter does not match what changed. --changed sets that.'
    : 'its filter does not match the payload and what changed. --field and --changed set them.'
}
