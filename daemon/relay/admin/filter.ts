/**
 * What a person or a program gives to a call: one set of rules for the command line and for the control port.
 *
 * A filter that is misread may send a week of events again. So nothing is ignored: every name must be known, every value must be
 * of its type, and what a filter names must be there.
 */
import * as v from 'valibot'
import { hostEventName, webhookName } from '../../../lib/events/catalogue.ts'
import { deliveryFilter } from '../../../lib/relay/delivery-filter.ts'
import type { DeliveryFilter, ResendRequest } from '../../../lib/relay/relay-admin.ts'
import { about, CommandFailure, UsageError } from '../../usage.ts'
import type { OperatorStore } from '../store/operator/operator-store.ts'
import { isNoticeType } from '../store/plans/notices.ts'

/** `endpoint_id` as commander names the option `--endpoint-id`. */
type Attribute<Name extends string> = Name extends `${infer First}_${infer Rest}`
  ? `${First}${Capitalize<Attribute<Rest>>}`
  : Name
const attributeOf = (name: string): string => name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase())

/** Texts of a command line for the parts of an input. */
export type FlagsOf<T> = { readonly [Name in keyof T & string as Attribute<Name>]?: string }
export type FilterFlags = FlagsOf<DeliveryFilter>

type Words = 'flags' | 'fields'
/** A name as the person wrote it. */
export const said = (name: string, words: Words): string => (words === 'flags' ? `--${name.replaceAll('_', '-')}` : name)

/** @throws UsageError for a name that is not among these */
export function checkNames(names: readonly string[], given: object): void {
  const unknown = Object.keys(given).find((name) => !names.includes(name))
  if (unknown === undefined) return
  const shown = /^\w{1,40}$/.test(unknown) ? `\`${unknown}\`` : 'a name of that kind'
  throw new UsageError(`there is no ${shown} here; allowed: ${names.join(', ')}`)
}

export function problemsOf(
  { issues }: Pick<v.ValiError<v.GenericSchema>, 'issues'>,
  given: object,
  words: Words = 'fields',
): UsageError {
  const names = issues.map(({ path }) => String(path?.[0]?.key))
  const problems = issues.map(({ message }, place) => {
    const name = names[place] ?? ''
    return `${said(name, words)} ${Object.hasOwn(given, name) ? message : 'is missing'}`
  })
  return about(new UsageError([...new Set(problems)].join('; ')), ...names.map(attributeOf))
}

/**
 * The input of a call from a command line; options of other names are left alone.
 * @throws UsageError naming every problem
 */
export function fromFlags<E extends v.ObjectEntries>(
  schema: v.ObjectSchema<E, undefined>,
  flags: object,
): v.InferOutput<v.ObjectSchema<E, undefined>> {
  const texts = new Map(Object.entries(flags))
  const names = Object.keys(schema.entries).filter((name) => texts.get(attributeOf(name)) !== undefined)
  const given = Object.fromEntries(names.map((name) => [name, texts.get(attributeOf(name))]))
  const result = v.safeParse(schema, given)
  if (result.success) return result.output
  throw problemsOf(result, given, 'flags')
}

/** @throws UsageError for a resend of everything, unless that is said */
export function checkChosen(
  { all, limit: _, per_second: __, state: ___, actor: ____, address: _____, ...chosen }: ResendRequest,
  words: Words,
): void {
  if (all || Object.keys(chosen).length > 0) return
  const names = Object.keys(deliveryFilter.entries).filter((name) => name !== 'state')
  const listed = names.map((name) => said(name, words)).join(', ')
  throw new UsageError(`a resend needs one of ${listed} to choose by, or ${words === 'flags' ? '--all' : '"all": true'}`)
}

/**
 * Refuses a filter of unknown things: an empty list would pass for good news.
 * @throws UsageError
 */
export async function checkKnown(store: OperatorStore, { endpoint_id, network_id, event_type }: DeliveryFilter): Promise<void> {
  if (endpoint_id !== undefined || network_id !== undefined) {
    const known = await store.knownEndpoints()
    const inNetwork = known.filter((each) => network_id === undefined || each.network_id === network_id)
    if (inNetwork.length === 0)
      throw about(new CommandFailure(`there is no endpoint of network ${network_id ?? ''}: see status`), 'networkId')
    if (endpoint_id !== undefined && !inNetwork.some(({ id }) => id === endpoint_id))
      throw about(
        new CommandFailure(`there is no endpoint ${endpoint_id}${network_id ? ` of network ${network_id}` : ''}: see status`),
        'networkId',
      )
  }
  if (event_type === undefined || webhookName(event_type) || hostEventName(event_type) || isNoticeType(event_type)) return
  if (!(await store.hasEventType(event_type)))
    throw new UsageError(`there is no event type ${event_type}: docs/events.md lists them`)
}
