/** `folkmoot members bulk`: one act for the members of a filter or of a file, with progress, a report, and a question before it. */
import { counted } from '../../../../lib/base/counted.ts'
import { defined } from '../../../../lib/base/defined.ts'
import { pagesOf } from '../../../../lib/base/pages.ts'
import type { BulkAct, BulkReport } from '../../../../lib/index.ts'
import type { Ask, Output } from '../../../output.ts'
import { CommandFailure, UsageError } from '../../../usage.ts'
import type { Operator } from '../../control/calls.ts'
import { inOptions } from '../in-options.ts'
import { withNetworkChanges } from '../operator.ts'
import { showOne } from '../show.ts'
import { filterOf } from './filters.ts'
import { type ListFlags, membersOf } from './former-members.ts'
import { countIn, listIn, partsOf } from './list.ts'

interface BulkFlags extends Omit<ListFlags, 'limit'> {
  readonly from?: string
  readonly reason?: string
  readonly cancelPlans?: boolean
  readonly keepPlans?: boolean
  readonly yes?: boolean
}

/** Members of a call, between which progress is shown. */
const chunk = 250

/** @param about the id of the tag, badge, space or plan */
function actOf(act: string, about: string | undefined, { reason, cancelPlans, keepPlans }: BulkFlags): BulkAct {
  if (act === 'remove') return { remove: { cancel_plans: cancelPlans === true } }
  if (act === 'ban') return { ban: { ...defined({ reason }), cancel_plans: keepPlans !== true } }
  if (about === undefined) throw new UsageError(`${act} needs an id: folkmoot members bulk ${act} <id>`)
  return { [act]: about }
}

/** The act, with the tag or badge that was named by its title. @throws CommandFailure when there is none */
async function byTitle(operator: Operator, network: string, act: BulkAct): Promise<BulkAct> {
  const [name, about] = Object.entries(act)[0] ?? []
  const kind = /^(?:un)?(tag|badge)$/.exec(name ?? '')?.[1] as 'tag' | 'badge' | undefined
  if (!kind || typeof about !== 'string' || /^\d+$/.test(about)) return act
  for await (const { items } of pagesOf((after) => operator.tags.list(network, { kind, limit: 1000, ...defined({ after }) }))) {
    const found = items.find(({ title }) => title.toLowerCase() === about.toLowerCase())
    if (found) return { [name ?? '']: found.id }
  }
  throw new CommandFailure(`there is no ${kind} ${JSON.stringify(about)}: \`folkmoot tags list\` shows those there are`)
}

export async function bulk(
  act: string,
  about: string | undefined,
  flags: BulkFlags,
  out: Output,
  ask?: Ask,
  draw?: (line: string) => void,
) {
  const wished = actOf(act, about, flags)
  const query = filterOf(flags)
  if ((flags.from === undefined) === (Object.keys(query).length === 0))
    throw new UsageError('choose members by filters, such as --role or --tag-id, or by --from FILE with addresses or ids')
  const listed = flags.from === undefined ? undefined : await listIn(flags.from)
  await withNetworkChanges(flags, out, async (operator, { id: network, subdomain }) => {
    const what = await byTitle(operator, network, wished)
    const list = listed ?? { ids: await idsOf(operator, network, query) }
    const count = countIn(list)
    if (!flags.yes && !flags.preview) {
      if (!ask || flags.json)
        throw new UsageError(`this is about ${counted(count, 'member')}: add --yes, or look first with --preview`)
      const reply = await ask(`${act} ${counted(count, 'member')} of ${subdomain}? Type yes: `)
      if (reply.trim().toLowerCase() !== 'yes') throw new UsageError('nothing is changed')
    }
    const task = `${act} ${new Date().toISOString()}`
    let sum: BulkReport = { done: 0, refused: 0, refusals: [], missing: [] }
    for (const part of partsOf(list, flags.preview ? Number.POSITIVE_INFINITY : chunk)) {
      const report = await inOptions(operator.members.bulk(network, part, what, { task }))
      sum = {
        done: sum.done + report.done,
        refused: sum.refused + report.refused,
        refusals: [...sum.refusals, ...report.refusals],
        missing: [...sum.missing, ...report.missing],
      }
      draw?.(`${sum.done + sum.refused + sum.missing.length} of ${counted(count, 'member')}`)
    }
    draw?.('')
    const lines = [
      `${counted(sum.done, 'member')} done, ${sum.refused} refused${sum.missing.length > 0 ? `, ${sum.missing.length} not found` : ''}.`,
      ...sum.refusals.map(({ id, name, reason }) => `  ${id} ${name}: ${reason}`),
      ...sum.missing.map((name) => `  ${name}: no member`),
    ]
    showOne(out, flags, { ...sum, task }, lines.join('\n'))
  })
}

const idsOf = async (operator: Operator, network: string, query: object): Promise<string[]> =>
  (await membersOf(operator, network, query, Number.POSITIVE_INFINITY)).map(({ id }) => id)
