/** `folkmoot networks …` */
import { defined } from '../../../lib/base/defined.ts'
import type { NetworkChanges, NetworkRow } from '../../../lib/index.ts'
import type { Output } from '../../output.ts'
import { time } from '../../table.ts'
import { UsageError } from '../../usage.ts'
import { inOptions } from './in-options.ts'
import { networkOf, type StorageFlags, withChanges, withOperator } from './operator.ts'
import { showList, showOne } from './show.ts'

interface ChangeFlags extends StorageFlags {
  readonly title?: string
  readonly subtitle?: string
  readonly purpose?: string
  readonly description?: string
  readonly plan?: NetworkRow['service_plan']
  readonly emailVisibility?: boolean
  readonly readOnly?: boolean
}

export interface CreateFlags extends ChangeFlags {
  readonly subdomain: string
  readonly title: string
  readonly ownerEmail: string
  readonly ownerName: string
}

/** Only the named changes. */
const changesOf = ({ title, subtitle, purpose, description, plan, emailVisibility, readOnly }: ChangeFlags): NetworkChanges =>
  defined({
    ...{ title, subtitle, purpose, description },
    ...{ service_plan: plan, member_email_visibility: emailVisibility, read_only: readOnly },
  })

/** `networks create`: a network with its first host. */
export function createNetwork(flags: CreateFlags, out: Output): Promise<void> {
  const [first_name = '', ...rest] = flags.ownerName.trim().split(/\s+/)
  return withChanges(
    flags,
    out,
    async ({ networks }) => {
      const { network, owner } = await inOptions(
        networks.create({
          ...changesOf(flags),
          subdomain: flags.subdomain,
          title: flags.title,
          owner: { email: flags.ownerEmail, first_name, last_name: rest.join(' ') },
        }),
      )
      const sentence = `Network ${network.subdomain} has the id ${network.id}; its first host is member ${owner.id}.`
      showOne(out, flags, { ...network, owner_id: owner.id }, sentence)
    },
    'create',
  )
}

export const listNetworks = (flags: StorageFlags, out: Output): Promise<void> =>
  withOperator(flags, out, async ({ networks }) =>
    showList(
      out,
      flags,
      await networks.list(),
      [
        { title: 'id', cell: ({ id }) => id, fits: 'whole' },
        { title: 'subdomain', cell: ({ subdomain }) => subdomain },
        { title: 'title', cell: ({ title }) => title },
        { title: 'plan', cell: ({ service_plan }) => service_plan },
        { title: 'addresses', cell: (row) => (row.member_email_visibility ? 'shown' : 'hidden') },
        { title: 'writes', cell: (row) => (row.read_only ? 'refused' : 'taken') },
        { title: 'created', cell: ({ created_at }) => time(created_at) },
      ],
      'There is no network.',
    ),
  )

/** `networks show`: every field. */
export const showNetwork = (name: string | undefined, flags: StorageFlags, out: Output): Promise<void> =>
  withOperator(flags, out, async (operator) => {
    const network = await networkOf(operator, name, 'after the command')
    const lines = Object.entries(network).map(([field, value]) => `${field.padEnd(24)} ${value ?? '–'}`)
    showOne(out, flags, network, lines.join('\n'))
  })

/** `networks update`: only the named changes. */
export async function updateNetwork(name: string | undefined, flags: ChangeFlags, out: Output): Promise<void> {
  const changes = changesOf(flags)
  if (Object.keys(changes).length === 0) throw new UsageError('name a change: --title, --plan, --email-visibility, …')
  await withChanges(flags, out, async (operator) => {
    const { id } = await networkOf(operator, name, 'after the command')
    const network = await inOptions(operator.networks.update(id, changes))
    const { subdomain, read_only } = network
    const end = `\`folkmoot networks update ${subdomain} --no-read-only\` takes writes again`
    const state = read_only ? `is read-only: every write gets a 503. ${end}` : 'takes writes again'
    showOne(out, flags, network, `Network ${subdomain} ${flags.readOnly === undefined ? 'is changed' : state}.`)
  })
}
