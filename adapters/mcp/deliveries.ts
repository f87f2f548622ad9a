/** Tools for the deliveries of a relay: those of one network, whatever an agent gives. */
import * as v from 'valibot'
import { sha256 } from '../../lib/base/sha256.ts'
import { inputs } from '../../lib/relay/calls.ts'
import type { DeliveryFilter, RelayAdmin, ResendProgress, ResendRequest } from '../../lib/relay/relay-admin.ts'
import { defaultPage, largestPage } from './schema.ts'
import { fitting } from './shorten.ts'
import type { Arguments, RelayTool } from './tool.ts'

/** The group of these tools, for `write` and `only`. */
export const deliveriesGroup = 'deliveries'

/** The relay, and the network whose deliveries the tools show. */
export interface RelayTarget {
  readonly admin: RelayAdmin
  /** @returns the id of the network */
  readonly network: () => Promise<string>
}

const texts = {
  state: 'pending, delivered, dead (no attempt is left) or skipped.',
  endpoint_id: 'Only deliveries to this endpoint.',
  event_id: 'Only deliveries of this event.',
  event_type: 'Only events of this type, such as PostCreatedHook.',
  subject: 'Only events about this, such as member:1001.',
  outcome: 'The outcome of the latest attempt, such as timeout.',
  http_status: 'The status of the latest response, such as 500.',
  min_milliseconds: 'The latest attempt took at least so long.',
  last_attempt_since: 'The latest attempt was at or after this time (ISO 8601).',
  since: 'Recorded at or after this time (ISO 8601).',
  until: 'Recorded before this time (ISO 8601).',
} as const satisfies Record<Exclude<keyof DeliveryFilter, 'network_id'>, string>

const text = (description: string) => ({ type: 'string', description })
const filter = Object.fromEntries(Object.entries(texts).map(([name, description]) => [name, text(description)]))
const endpoint_id = text('The endpoint, as deliveries_status shows it.')

const hints = (title: string, reads: boolean) => ({
  ...{ title, readOnlyHint: reads, destructiveHint: !reads, idempotentHint: reads, openWorldHint: !reads },
})

/** @throws TypeError that names the argument and the rule */
function checked<S extends v.GenericSchema>(schema: S, given: unknown): v.InferOutput<S> {
  const result = v.safeParse(schema, given)
  if (result.success) return result.output
  const [issue] = result.issues
  throw new TypeError(`${v.getDotPath(issue) ?? 'the arguments'} ${issue.message}`)
}

/** What a resend would send again. Its token changes with the number of deliveries and with the conditions. */
async function wouldResend(admin: RelayAdmin, request: ResendRequest) {
  const { ids, all: _, limit: __, per_second: ___, ...conditions } = request
  const { count, exact } = ids
    ? { count: ids.length, exact: true }
    : await admin.count({ ...conditions, state: conditions.state ?? 'dead' })
  const token = (await sha256(JSON.stringify([Object.entries(request).toSorted(), count]))).slice(0, 32)
  return { would_resend: count, exact, token }
}

/** @throws TypeError if something else would be sent again than the preview showed */
async function resend(admin: RelayAdmin, given: Arguments, network_id: string): Promise<Arguments> {
  const { preview, if_preview, ...rest } = given
  const { actor: _, address: __, ...request } = checked(inputs.resend, { ...rest, network_id })
  const { ids, all, limit, per_second, network_id: own, ...conditions } = request
  if (!ids && !all && Object.keys(conditions).every((name) => name === 'state'))
    throw new TypeError('deliveries_resend needs ids, a condition besides state, or all: true')
  const shown = await wouldResend(admin, request)
  if (preview === true) return { ...shown, text: 'Nothing was sent again.' }
  if (if_preview !== undefined && if_preview !== shown.token)
    throw new TypeError('if_preview: the deliveries are no longer those of the preview. Preview again')
  return { ...(await ended(admin, await admin.resend({ ...request, actor: 'agent' }), network_id)) }
}

/** Waits a moment for a resend, most of which are done at once. */
async function ended(admin: RelayAdmin, began: ResendProgress, network_id: string): Promise<ResendProgress> {
  let progress = began
  for (let wait = 0; wait < 10 && progress.state === 'running'; wait++) {
    await new Promise((resolve) => setTimeout(resolve, 100))
    progress = (await admin.progress({ id: progress.id, network_id })) ?? progress
  }
  return progress
}

async function page(admin: RelayAdmin, { limit, cursor, ...conditions }: Arguments, network_id: string): Promise<Arguments> {
  const after = cursor === undefined ? {} : { after: cursor }
  const most = checked(v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(largestPage)), defaultPage), limit)
  const read = (size: number) => admin.list(checked(inputs.list, { ...conditions, ...after, network_id, limit: size }))
  const all = await read(most)
  const fits = Math.max(1, fitting(all.items, 200))
  const { items, next } = fits >= all.items.length ? all : await read(fits)
  return { items, next_cursor: next }
}

/** @throws TypeError if there is no such endpoint or event */
function found(result: object | undefined, what: string): Arguments {
  if (result === undefined) throw new TypeError(`there is no such ${what} in this network`)
  return { ...result }
}

/** A relay that is away is named, so that an agent can say it. */
async function reaching(work: () => Promise<Arguments>): Promise<Arguments> {
  try {
    return await work()
  } catch (error) {
    const isAway = error instanceof Error && (error.message === 'fetch failed' || error.name === 'TimeoutError')
    if (isAway) throw new TypeError('the relay does not respond. Try again later, or tell its operator')
    throw error
  }
}

/** The tools; those that write come last. */
export function deliveryTools({ admin, network }: RelayTarget): readonly RelayTool[] {
  const tool = (
    name: string,
    description: string,
    reads: boolean,
    properties: Arguments,
    required: readonly string[],
    run: (given: Arguments, network_id: string) => Promise<Arguments>,
  ): RelayTool => ({
    ...{ name: `${deliveriesGroup}_${name}`, description, annotations: hints(description.split('.')[0] ?? '', reads) },
    inputSchema: { type: 'object', properties, required, additionalProperties: false },
    run: (given) => reaching(async () => run(given, await network())),
  })
  const ref = (given: Arguments, network_id: string) => ({ ...given, network_id })
  return [
    tool(
      'status',
      'Show the endpoints of webhooks, and what the relay does with each. It has the number of deliveries that wait or failed for good, and the last error.',
      true,
      {},
      [],
      async (_, network_id) => {
        const { running, endpoints } = await admin.status({ network_id })
        return { running, endpoints: endpoints.map(({ hours: _, ...endpoint }) => endpoint) }
      },
    ),
    tool(
      'list',
      'List deliveries of webhooks, the newest first. Each is one event to one endpoint.',
      true,
      {
        ...filter,
        limit: {
          type: 'integer',
          minimum: 1,
          maximum: largestPage,
          description: `The most deliveries, ${defaultPage} by default.`,
        },
        cursor: text('`next_cursor` of the response before, with the same conditions.'),
      },
      [],
      (given, network_id) => page(admin, given, network_id),
    ),
    tool(
      'explain',
      'Explain why an event was delivered to an endpoint, or was not. With each attempt and the response of the receiver.',
      true,
      { endpoint_id, event_id: text('The event, as deliveries_list shows it.') },
      ['endpoint_id', 'event_id'],
      async (given, network_id) =>
        found(await admin.explain(checked(inputs.explain, ref(given, network_id))), 'endpoint or event'),
    ),
    tool(
      'test',
      'Send a test event to an endpoint immediately. Nothing is recorded, and the response is returned.',
      false,
      { endpoint_id },
      ['endpoint_id'],
      async (given, network_id) => found(await admin.test(checked(inputs.endpoint, ref(given, network_id))), 'endpoint'),
    ),
    tool(
      'resend',
      'Send deliveries again. Those named by ids, or all that match the conditions: those that are dead unless state says otherwise.',
      false,
      {
        ...filter,
        ids: { type: 'array', items: { type: 'string' }, maxItems: 1000, description: 'The `id` of deliveries.' },
        all: { type: 'boolean', description: 'Needed without ids and without a condition besides state.' },
        limit: { type: 'integer', minimum: 1, maximum: 100_000, description: 'At most so many.' },
        per_second: { type: 'number', description: 'Deliveries a second; all at once without it.' },
        preview: { type: 'boolean', description: 'Only count what would be sent again, with a token.' },
        if_preview: text('The token of a preview: refused if other deliveries would be sent again.'),
      },
      [],
      (given, network_id) => resend(admin, given, network_id),
    ),
  ]
}
