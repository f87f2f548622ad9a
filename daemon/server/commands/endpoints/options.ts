/** The options and the column of each attribute of an endpoint, in `endpoints add`, `update` and `list`. The compiler requires a new one here too. */
import { type Command, Option } from 'commander'
import type { Endpoint } from '../../../../lib/index.ts'
import type { AttributeChanges } from '../../../../lib/outbox/endpoint-attributes.ts'
import type { Filter } from '../../../../lib/outbox/filter.ts'
import { audiences, formats, orders } from '../../../../lib/outbox/values.ts'
import type { Column } from '../../../table.ts'
import { UsageError } from '../../../usage.ts'
import { list } from '../common-options.ts'

/** The flags of the options below. */
export interface AttributeFlags {
  readonly name?: string
  readonly url?: string
  readonly disabled?: boolean
  readonly order?: Endpoint['order']
  /** `false`: no limit any more. */
  readonly rate?: number | false
  readonly event?: readonly string[]
  readonly allEvents?: boolean
  /** `false`: no filter any more. */
  readonly filter?: Filter | false
  /** `false`: no list any more. */
  readonly allowAddresses?: readonly string[] | false
  /** `false`: none any more. */
  readonly clientIdentity?: string | false
  readonly ca?: string | false
  readonly audience?: Endpoint['audience']
  readonly format?: Endpoint['format']
}

interface AttributeOptions<Value> {
  readonly options: (command: 'add' | 'update') => readonly Option[]
  /** The value in the flags; `undefined` keeps the present one. */
  readonly change: (flags: AttributeFlags) => Value | undefined
  readonly column: Column<Endpoint>
}

function rate(text: string): number {
  const number = Number(text)
  if (text.trim() !== '' && number > 0 && number <= 10_000) return number
  throw new UsageError(`--rate must be above 0 and at most 10000 deliveries a second, got ${JSON.stringify(text)}`)
}

function filterOf(text: string): Filter | false {
  if (text === 'none') return false
  try {
    // The library checks it.
    return JSON.parse(text) as Filter
  } catch {
    throw new UsageError(`--filter must be JSON such as '{"path":"/space_id","equals":"2001"}', or none`)
  }
}

/** In the order of help and lists. */
export const attributeOptions: { readonly [Name in keyof AttributeChanges]-?: AttributeOptions<AttributeChanges[Name]> } = {
  name: {
    options: () => [new Option('--name <text>', "a name for lists; '' for none")],
    change: ({ name }) => (name === '' ? null : name),
    column: { title: 'name', cell: ({ name }) => name, shown: 'spare' },
  },
  url: {
    options: (command) => [new Option('--url <url>', 'where webhooks go').makeOptionMandatory(command === 'add')],
    change: ({ url }) => url,
    column: { title: 'url', cell: ({ url }) => url, least: 30 },
  },
  enabled: {
    options: (command) =>
      command === 'add' ? [new Option('--disabled', 'create it disabled; its events queue up until you enable it')] : [],
    change: ({ disabled }) => (disabled === undefined ? undefined : !disabled),
    column: { title: 'state', cell: ({ enabled }) => (enabled ? 'enabled' : 'disabled'), isState: true },
  },
  order: {
    options: () => [
      new Option('--order <order>', 'fifo: oldest first, one at a time; subject: the same for each member or record').choices(
        orders,
      ),
    ],
    change: ({ order }) => order,
    column: { title: 'order', cell: ({ order }) => order },
  },
  rate_per_second: {
    options: (command) => [
      new Option('--rate <number>', 'at most this many deliveries per second').argParser(rate),
      ...(command === 'update' ? [new Option('--no-rate', 'deliver without a limit')] : []),
    ],
    change: (flags) => (flags.rate === false ? null : flags.rate),
    column: { title: 'rate', cell: (row) => (row.rate_per_second === null ? null : `${row.rate_per_second}/s`) },
  },
  events: {
    options: () => [
      new Option('--event <type>', 'an event type to deliver; repeatable').argParser(list),
      new Option('--all-events', 'every event').conflicts('event'),
    ],
    change: ({ event, allEvents }) => (allEvents ? null : event),
    column: { title: 'events', cell: ({ events }) => events?.join(' ') ?? 'all' },
  },
  filter: {
    options: () => [
      new Option('--filter <json>', 'conditions on the payload, or none: \'{"path":"/space_id","equals":"2001"}\'').argParser(
        filterOf,
      ),
    ],
    change: ({ filter }) => (filter === false ? null : filter),
    column: { title: 'filter', cell: ({ filter }) => filter && JSON.stringify(filter), shown: 'wide' },
  },
  allow_addresses: {
    options: (command) => [
      new Option(
        '--allow-addresses <ranges>',
        'send only to these addresses, of those that the relay allows: 192.0.2.5,198.51.100.0/24',
      ).argParser((text) => text.split(',').map((each) => each.trim())),
      ...(command === 'update' ? [new Option('--no-allow-addresses', 'send to every address that the relay allows')] : []),
    ],
    change: ({ allowAddresses }) => (allowAddresses === false ? null : allowAddresses),
    column: { title: 'addresses', cell: (row) => row.allow_addresses?.join(' ') ?? null, shown: 'wide' },
  },
  client_identity: {
    options: (command) => [
      new Option('--client-identity <name>', "send with this client certificate of the relay's settings"),
      ...(command === 'update' ? [new Option('--no-client-identity', 'send without a client certificate')] : []),
    ],
    change: ({ clientIdentity }) => (clientIdentity === false ? null : clientIdentity),
    column: { title: 'identity', cell: (row) => row.client_identity, shown: 'wide' },
  },
  ca: {
    options: (command) => [
      new Option('--ca <name>', "trust only this private authority of the relay's settings"),
      ...(command === 'update' ? [new Option('--no-ca', 'trust the usual authorities')] : []),
    ],
    change: ({ ca }) => (ca === false ? null : ca),
    column: { title: 'ca', cell: (row) => row.ca, shown: 'wide' },
  },
  format: {
    options: () => [
      new Option('--format <format>', 'standard: events; slack, teams, discord: messages for a channel').choices(formats),
    ],
    change: ({ format }) => format,
    column: { title: 'format', cell: ({ format }) => format, shown: 'spare' },
  },
  audience: {
    options: () => [new Option('--audience <who>', 'host: the host application, which gets the mail to send').choices(audiences)],
    change: ({ audience }) => audience,
    column: { title: 'audience', cell: ({ audience }) => audience, shown: 'spare' },
  },
}

export function withAttributes(command: Command, name: 'add' | 'update'): Command {
  for (const { options } of Object.values(attributeOptions)) for (const option of options(name)) command.addOption(option)
  return command
}

/** Only the changes in the flags. */
export function attributeChanges(flags: AttributeFlags): AttributeChanges {
  const said = Object.entries(attributeOptions).map(([name, { change }]) => [name, change(flags)] as const)
  // Each value has the type of its entry.
  return Object.fromEntries(said.filter(([, value]) => value !== undefined)) as AttributeChanges
}
