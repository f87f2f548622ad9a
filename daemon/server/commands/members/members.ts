/** `folkmoot members …` */

import { systemChance } from '../../../../lib/base/chance.ts'
import { counted } from '../../../../lib/base/counted.ts'
import { withLines } from '../../../../lib/host/audit/audited-work.ts'
import { plain } from '../../../json.ts'
import type { Output } from '../../../output.ts'
import { UsageError } from '../../../usage.ts'
import type { Operator } from '../../control/calls.ts'
import { ofRecord } from '../in-options.ts'
import { type NetworkFlags, withNetwork, withNetworkChanges } from '../operator.ts'

export interface ConsentFlags extends NetworkFlags {
  readonly member?: string
  readonly email?: string
  readonly all?: boolean
  readonly withdraw?: boolean
}

const perPage = 100

async function* idsOf({ call }: Operator, network: string, member: string | undefined): AsyncGenerator<string> {
  if (member !== undefined) return yield member
  for (let page = 1; ; page++) {
    const { items } = await call('members.list', { network, query: { page, per_page: perPage } })
    for (const { id } of items) yield String(id)
    if (items.length < perPage) return
  }
}

/** `members consent`: to commercial e-mail, without which no one sees an address. */
export async function consent(flags: ConsentFlags, out: Output): Promise<void> {
  if ([flags.member, flags.email, flags.all].filter((each) => each !== undefined).length !== 1)
    throw new UsageError('choose members with one of --member, --email and --all')
  const given = !flags.withdraw
  if (flags.preview)
    return withNetworkChanges(flags, out, async (operator, { id }) => {
      const { member, email } = flags
      const all = { filter: { state: 'active' } } as const
      const selection = member === undefined ? (email === undefined ? all : { addresses: [email] }) : { ids: [member] }
      await operator.members.bulk(id, selection, { consent: given })
    })
  await withNetwork(flags, out, async (operator, network) => {
    let members = 0
    const { email } = flags
    // Lines of the audit have no addresses.
    const found =
      email === undefined ? undefined : await operator.call('members.by_email', { network: network.id, query: { email } })
    const member = found === undefined ? flags.member : String(found.id)
    const subject =
      member === undefined ? ({ type: 'network', id: network.id } as const) : ({ type: 'member', id: member } as const)
    const details = { consent: given }
    const count = () => ({ members })
    await withLines([{ network: network.id, action: 'members.consent', subject, details }], {
      record: (entry) => operator.audit.record(entry),
      chance: systemChance,
      async run() {
        for await (const member_id of idsOf(operator, network.id, member)) {
          await ofRecord(
            network,
            'member',
            member_id,
            operator.notify.emailConsent({ network: network.id, member_id, consent: given }),
          )
          members++
        }
      },
      done: count,
      before: count,
    })
    const whose = `${counted(members, 'member')} of ${plain(network.subdomain)}`
    out.line(
      flags.json
        ? JSON.stringify({ network_id: network.id, members, consent: given })
        : `${given ? 'Consent is recorded' : 'Consent is withdrawn'} for ${whose}.`,
    )
    if (given && !network.member_email_visibility && !flags.json)
      out.warn(`The network hides addresses: \`folkmoot networks update ${network.id} --email-visibility\` shows them.`)
  })
}
