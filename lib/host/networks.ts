import { fail, invalid } from '../errors.ts'
import { isoTime } from '../kernel/clock.ts'
import type { Runner } from '../kernel/run.ts'
import { refusingTrouble } from '../kernel/trouble.ts'
import type { Settings } from '../options.ts'
import { scoped } from '../storage/scoped.ts'
import type { Id } from '../storage/table.ts'
import { customFields, type MemberRow, members, type NetworkRow, networks } from '../storage/tables.ts'

/** A network to be, with the member who hosts it. */
export interface NewNetwork {
  /** `^[a-z][a-z0-9-]+$`; unique. */
  readonly subdomain: string
  readonly title: string
  readonly subtitle?: string
  readonly purpose?: string
  readonly description?: string
  /** The plan that sets the rate limit; `standard` by default. */
  readonly service_plan?: NetworkRow['service_plan']
  /** Whether the plan shows members' e-mail addresses (specification, section 2, e-mail rule 3). */
  readonly member_email_visibility?: boolean
  /** The first host: who the network's keys act for by default. */
  readonly owner: { readonly email: string; readonly first_name: string; readonly last_name: string }
  /** The ids of the network and of its owner, where they must be known beforehand; made up otherwise. */
  readonly id?: Id
  readonly owner_id?: Id
}

/** What a host may do with networks. */
export interface Networks {
  /**
   * Creates a network, its owner, and the two custom fields that tags and badges belong to.
   * @throws ApiError 422 when the subdomain is malformed or taken
   */
  create(network: NewNetwork): Promise<{ readonly network: NetworkRow; readonly owner: MemberRow }>
  /** Every network, in ascending order of their ids. */
  list(): Promise<readonly NetworkRow[]>
  /** The network with this id or subdomain. */
  find(name: string): Promise<NetworkRow | undefined>
}

const subdomainPattern = /^[a-z][a-z0-9-]+$/

export function networksOf({ storage, clock }: Settings, runner: Runner): Networks {
  return {
    async create({ owner, id, owner_id, ...fields }) {
      if (!subdomainPattern.test(fields.subdomain) || fields.subdomain.length > 63)
        fail(
          invalid('subdomain'),
          'subdomain must be 2 to 63 characters: a letter, then letters, digits and hyphens, all lower case',
        )
      const network_id = id ?? runner.newId()
      const now = isoTime(clock.now())
      const stamp = { created_at: now, updated_at: now }
      return runner.work(network_id, now, async (tx) => {
        const network = await tx.insert(networks, { ...stamp, ...fields, id: network_id })
        for (const [response_type, title] of [
          ['tag', 'Tags'],
          ['badge', 'Badges'],
        ] as const)
          await tx.insert(customFields, { ...stamp, id: runner.newId(), title, response_type, response_by: 'hosts_only' })
        const row = { ...stamp, ...owner, id: owner_id ?? runner.newId(), email_key: owner.email.toLowerCase() }
        return { network, owner: await tx.insert(members, { ...row, role: 'host' }) }
      })
    },
    list: () => refusingTrouble(() => storage.transaction((tx) => tx.find(networks, {}), { readOnly: true })),
    find: (name) =>
      refusingTrouble(() =>
        storage.transaction(
          async (tx) => {
            const [bySubdomain] = await tx.find(networks, { where: { subdomain: name }, limit: 1 })
            return bySubdomain ?? scoped(tx, name).get(networks, name)
          },
          { readOnly: true },
        ),
      ),
  }
}
