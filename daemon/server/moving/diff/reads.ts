/** Which read requests two servers get: every GET of the API, with ids and filters out of the responses of the first one. */
import { type ClientRoute, routes } from '../../../../lib/client/routes.ts'
import { type ApiRecord, isApiRecord, shownAddress, textOf, within } from '../api-record.ts'

export interface Read {
  readonly route: ClientRoute
  readonly params: Readonly<Record<string, string>>
  readonly query: Readonly<Record<string, string>>
}

/** A record that a response has shown, with the ids in the path of its list. */
export interface Found {
  readonly params: Readonly<Record<string, string>>
  readonly record: ApiRecord
}

const reads = routes.filter(({ method }) => method === 'GET')

/** Lists, those first whose ids others are made of. */
export const listRoutes: readonly ClientRoute[] = inOrder(reads.filter(({ isList }) => isList))

export const recordRoutes: readonly ClientRoute[] = reads.filter(({ isList, id }) => !isList && id !== 'members.by_email')

/** The list with the records whose ids a parameter takes: `comments.list` for `comment_id`. */
export function sourceOf(param: string): string {
  return `${param.replace(/_id$/, '')}s.list`
}

function inOrder(lists: readonly ClientRoute[]): readonly ClientRoute[] {
  const ordered: ClientRoute[] = []
  for (let left = lists; left.length > 0; ) {
    const isReady = ({ params }: ClientRoute): boolean =>
      params.every((param) => ordered.some(({ id }) => id === sourceOf(param)))
    const ready = left.filter(isReady)
    if (ready.length === 0) throw new TypeError(`no list has the ids of ${left[0]?.path}`)
    ordered.push(...ready)
    left = left.filter((route) => !ready.includes(route))
  }
  return ordered
}

const bare = (path: string): string => path.replace(/\/$/, '')

/** The list that shows the record of a path: `/members` for `/members/:id/`. */
export function listOfRecord({ path }: ClientRoute): ClientRoute | undefined {
  const [, list] = /^(.*)\/:\w+\/?$/.exec(path) ?? []
  return listRoutes.find((route) => bare(route.path) === list)
}

/** The id of a record: payments have theirs in a part of it. */
export const idOf = (record: ApiRecord): string =>
  textOf(record['id'] ?? within(record, 'subscription')['id'] ?? within(record, 'purchase')['id'])

/** The path of a request, below the network. */
export function pathOf({ route, params, query }: Read): string {
  const path = route.path.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(params[name] ?? ''))
  const search = new URLSearchParams(query)
  return search.size > 0 ? `${path}?${search}` : path
}

/** A filter of a list: a parameter, and the records with its values. */
interface Filter {
  readonly route: string
  readonly param: string
  /** The list whose records have the values. */
  readonly from: string
  readonly value: (record: ApiRecord) => string
}

const field = (name: string) => (record: ApiRecord) => textOf(record[name])

const filters: readonly Filter[] = [
  { route: 'members.by_email', param: 'email', from: 'members.list', value: ({ email }) => shownAddress(email) ?? '' },
  { route: 'members.list', param: 'email', from: 'members.list', value: ({ email }) => shownAddress(email) ?? '' },
  {
    route: 'invites.list',
    param: 'email',
    from: 'invites.list',
    value: (invite) => shownAddress(invite['recipient_email']) ?? '',
  },
  { route: 'custom_fields.list', param: 'response_type', from: 'custom_fields.list', value: field('response_type') },
  { route: 'options.list', param: 'term', from: 'options.list', value: field('title') },
  { route: 'posts.list', param: 'space_id', from: 'spaces.list', value: idOf },
  { route: 'polls.list', param: 'space_id', from: 'spaces.list', value: idOf },
  { route: 'purchases.list', param: 'plan_id', from: 'plans.list', value: idOf },
  { route: 'purchases.list', param: 'member_id', from: 'purchases.list', value: field('member_id') },
  { route: 'subscriptions.list', param: 'member_id', from: 'subscriptions.list', value: field('member_id') },
  { route: 'subscriptions.list', param: 'status', from: 'subscriptions.list', value: () => 'canceled' },
  { route: 'courseworks.list', param: 'type', from: 'courseworks.list', value: field('type') },
  { route: 'courseworks.list', param: 'status', from: 'courseworks.list', value: field('status') },
  { route: 'courseworks.list', param: 'parent_id', from: 'courseworks.list', value: field('parent_id') },
  {
    route: 'rsvps.list',
    param: 'instance_at',
    from: 'rsvps.list',
    value: (rsvp) => textOf(within(rsvp, 'event_instance')['starts_at']),
  },
]

/**
 * Requests with filters.
 * @param most requests with one filter
 */
export function filteredReads(found: (list: string) => readonly Found[], most: number): readonly Read[] {
  return filters.flatMap(({ route: id, param, from, value }) => {
    const route = reads.find((one) => one.id === id)
    if (!route) return []
    const made = new Map<string, Read>()
    for (const { params, record } of found(from)) {
      const text = isApiRecord(record) ? value(record) : ''
      if (text === '' || made.size >= most) continue
      // The ids of the path, where the filtered list has some.
      const own = Object.fromEntries(route.params.map((name) => [name, params[name] ?? '']))
      made.set(JSON.stringify([own, text]), { route, params: own, query: { [param]: text } })
    }
    return [...made.values()]
  })
}
