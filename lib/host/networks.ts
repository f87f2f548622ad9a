import * as v from 'valibot'
import { isoTime } from '../base/clock.ts'
import { kind } from '../base/describe-value.ts'
import { fail, found, invalid } from '../errors.ts'
import { BoolInput, Email, LongText, oneOf, optional, ShortText, Title } from '../fields.ts'
import { readOnly } from '../kernel/read-only.ts'
import { refusingTrouble } from '../kernel/storage-errors.ts'
import { emailKey, lockNetwork } from '../rules/members.ts'
import type { Settings } from '../settings.ts'
import { differs } from '../storage/changes.ts'
import type { Tx } from '../storage/contract.ts'
import { type HostTx, scoped } from '../storage/scoped.ts'
import type { Id } from '../storage/table.ts'
import { type NetworkRow, networks } from '../storage/tables/administration.ts'
import { customFields } from '../storage/tables/custom-fields.ts'
import { type MemberRow, members } from '../storage/tables/members.ts'
import { checkArgument, NewId, PlaceInput, shape } from './arguments.ts'
import type { Changes } from './audit/changes.ts'
import { differences } from './audit/details.ts'
import type { AuditSubject } from './audit/line.ts'

/** The fields of a network that a host may change. Omitted fields stay. */
export interface NetworkChanges {
  /** Its name, as members see it. */
  readonly title?: string
  /** A second line below the title. */
  readonly subtitle?: string
  /** What the network is for, in a sentence. */
  readonly purpose?: string
  /** What a visitor should know about it; a longer text. */
  readonly description?: string
  /** The plan that sets the rate limit. */
  readonly service_plan?: NetworkRow['service_plan']
  /** Whether the plan shows members' e-mail addresses (interface.md, 7.3). */
  readonly member_email_visibility?: boolean
  /** Whether every write is refused with a 503; reads and deliveries go on. */
  readonly read_only?: boolean
}

/** A network to be, with the member who hosts it. */
export interface NewNetwork extends NetworkChanges {
  /** `^[a-z][a-z0-9-]+$`; unique. It stays: addresses are made of it. */
  readonly subdomain: string
  /** Its name, as members see it. The only text that is required. */
  readonly title: string
  /** The first host: who the network's keys act for by default. */
  readonly owner: {
    /** Unique among the members of the network. */
    readonly email: string
    readonly first_name: string
    readonly last_name: string
    /** Whether others may see the address; option `newMembersConsent` by default. */
    readonly commercial_email_consent?: boolean
  }
  /** The ids of the network and of its owner, where they must be known beforehand; made up otherwise. */
  readonly id?: Id | number
  /** As `id`, for the member who hosts it. */
  readonly owner_id?: Id | number
}

/** A page of networks to be listed. */
export interface NetworkQuery {
  /** At most so many, from 1 to 100: 25 by default. */
  readonly limit?: number
  /** The `next` of the page before. */
  readonly after?: Id | undefined
}

/** A page of networks, in the order of their ids. */
export interface NetworkPage {
  /** At most `limit` networks. */
  readonly items: readonly NetworkRow[]
  /** Given as `after` it yields the next page; null on the last. */
  readonly next: Id | null
}

/** The calls about networks. A network is named by its id or its subdomain. */
export interface Networks {
  /**
   * Creates a network, its owner, and the two custom fields that tags and badges belong to.
   * @throws ApiError 422 when a value is refused, or the subdomain is taken
   */
  create(network: NewNetwork): Promise<{ readonly network: NetworkRow; readonly owner: MemberRow }>
  /** Every network, in ascending order of their ids. */
  list(): Promise<readonly NetworkRow[]>
  /**
   * A page of the networks, in ascending order of their ids.
   * @throws ApiError 422 when a value is refused
   */
  page(query?: NetworkQuery): Promise<NetworkPage>
  /** The network, or `undefined` if it does not exist. */
  find(network: Id | number): Promise<NetworkRow | undefined>
  /**
   * The network.
   * @throws ApiError 404 if it does not exist
   */
  show(network: Id | number): Promise<NetworkRow>
  /**
   * Changes the named fields, from the next request on; omitted fields stay. With `read_only: true` no write of this network that is
   * under way, in any process, commits after this has returned. A network that is read-only takes `read_only` alone.
   * @throws ApiError 404, 422 when a value is refused, 503 when the network is read-only
   */
  update(network: Id | number, changes: NetworkChanges): Promise<NetworkRow>
}

const subdomainRule = 'must be 2 to 63 characters: a letter, then letters, digits and hyphens, all lower case'
/** Whether a text may be the subdomain of a network that is there. */
export const isSubdomain = (text: string): boolean => /^[a-z][a-z0-9-]{1,62}$/.test(text)
const newSubdomainRule = 'must not end in a hyphen or begin with xn--: such a name is no host name of its own'
// Networks of earlier versions may have these names, and keep them.
const isHostName = (text: string): boolean => !text.endsWith('-') && !text.startsWith('xn--')

const changeable = {
  subtitle: optional(ShortText),
  purpose: optional(LongText),
  description: optional(LongText),
  service_plan: optional(oneOf('standard', 'premium', 'unlimited')),
  member_email_visibility: optional(BoolInput),
  read_only: optional(BoolInput),
}
const NetworkUpdate = shape({ title: optional(Title), ...changeable })
const changedNames = ['title', ...(Object.keys(changeable) as (keyof typeof changeable)[])] as const
const Network = shape({
  subdomain: v.pipe(v.string(subdomainRule), v.check(isSubdomain, subdomainRule), v.check(isHostName, newSubdomainRule)),
  title: Title,
  ...changeable,
  owner: shape({ email: Email, first_name: Title, last_name: ShortText, commercial_email_consent: optional(BoolInput) }),
  id: optional(NewId),
  owner_id: optional(NewId),
})

const pageRule = 'must be a whole number from 1 to 100'
const NetworkQuery = shape({
  limit: optional(v.pipe(v.number('must be a number'), v.integer(pageRule), v.minValue(1, pageRule), v.maxValue(100, pageRule))),
  after: optional(PlaceInput),
})

export function networksOf({ storage, clock, limits, newMembersConsent }: Settings, { change, newId }: Changes): Networks {
  const subjectOf = ({ id, title }: NetworkRow): AuditSubject => ({ type: 'network', id, name: title })
  const find: Networks['find'] = async (given) => {
    if (typeof given !== 'string' && typeof given !== 'number')
      fail(invalid('network'), `network must be the id or subdomain of a network, got ${kind(given)}`)
    const name = String(given)
    const look = async (tx: Tx) => {
      if (!isSubdomain(name)) return scoped(tx, name).get(networks, name)
      const [bySubdomain] = await tx.find(networks, { where: { subdomain: name }, limit: 1 })
      return bySubdomain
    }
    return refusingTrouble(() => storage.transaction(look, { readOnly: true }))
  }
  const show = async (name: Id | number) => found(await find(name), 'Network')

  return {
    async create(given) {
      const { owner, id, owner_id, ...fields } = checkArgument('networks.create', Network, given, limits)
      const network_id = id ?? newId()
      const now = isoTime(clock.now())
      const stamp = { created_at: now, updated_at: now }
      return change(network_id, now, async (tx) => {
        const network = await tx.insert(networks, { ...stamp, ...fields, id: network_id })
        for (const [response_type, title] of [
          ['tag', 'Tags'],
          ['badge', 'Badges'],
        ] as const)
          await tx.insert(customFields, { ...stamp, id: newId(), title, response_type, response_by: 'hosts_only' })
        const row = await tx.insert(members, {
          ...stamp,
          ...owner,
          commercial_email_consent: owner.commercial_email_consent ?? newMembersConsent,
          id: owner_id ?? newId(),
          email_key: emailKey(owner.email),
          role: 'host',
        })
        const details = { ...fields, owner_id: row.id }
        return { result: { network, owner: row }, audit: [{ action: 'network.created', subject: subjectOf(network), details }] }
      })
    },
    list: () => refusingTrouble(() => storage.transaction((tx) => tx.find(networks, {}), { readOnly: true })),
    async page(given = {}) {
      const { limit = 25, after } = checkArgument('networks.page', NetworkQuery, given, limits)
      const query = { limit: limit + 1, ...(after === undefined ? {} : { after }) }
      const read = await refusingTrouble(() => storage.transaction((tx) => tx.find(networks, query), { readOnly: true }))
      const items = read.slice(0, limit)
      return { items, next: read.length > limit ? (items.at(-1)?.id ?? null) : null }
    },
    find,
    show,
    async update(name, given) {
      const changes = checkArgument('networks.update', NetworkUpdate, given, limits)
      const { id } = await show(name)
      const now = isoTime(clock.now())
      const isSwitch = changes.read_only !== undefined
      const work = async (tx: HostTx) => {
        // Waits for those who write, who hold `use`: what they were told is there, and the others see the change.
        const before = isSwitch ? found(await tx.lock(networks, id, 'close'), 'Network') : await lockNetwork(tx)
        if (!differs(before, changes)) return { result: before, audit: [] }
        if (before.read_only && changes.read_only === true) throw readOnly()
        const after = found(await tx.update(networks, id, { ...changes, updated_at: now }), 'Network')
        const details = differences(before, after, changedNames)
        return { result: after, audit: [{ action: 'network.updated', subject: subjectOf(after), details }] as const }
      }
      return change(id, now, work, { isAlways: isSwitch })
    },
  }
}
