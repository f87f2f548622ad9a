/** One act for many members: of a filter, or of a list of ids or addresses. Fifty members share a transaction; a refusal stops none. */
import * as v from 'valibot'
import { isoTime } from '../../base/clock.ts'
import { compareIds } from '../../base/ids.ts'
import { isApiError } from '../../errors.ts'
import { BoolInput, IdInput, LongText, optional, ShortText } from '../../fields.ts'
import { fullName } from '../../records/member.ts'
import { emailKey } from '../../rules/members.ts'
import type { Settings } from '../../settings.ts'
import type { Id } from '../../storage/table.ts'
import type { MemberRow } from '../../storage/tables/members.ts'
import { checkArgument, shape } from '../arguments.ts'
import type { Changes } from '../audit/changes.ts'
import type { Networks } from '../networks.ts'
import type { RowCalls } from './import.ts'
import { hasOne, type MemberSelection, MemberSelectionInput, selectMembers } from './search.ts'
import type { Together } from './together.ts'

type Given = 'tag' | 'untag' | 'badge' | 'unbadge' | 'space' | 'plan'

/**
 * The id of the tag, badge, space or plan that is given or taken; whether they consent to commercial e-mail; or how members are
 * removed or banned, as by `remove` and `ban`.
 */
export type BulkAct =
  | { readonly [Act in Given]?: Id | number }
  | { readonly consent: boolean }
  | { readonly remove: { readonly cancel_plans?: boolean } }
  | { readonly ban: { readonly reason?: string; readonly cancel_plans?: boolean } }

/** How an act is carried out. */
export interface BulkOptions {
  /** A name for several calls that are parts of one task; the audit has it. */
  readonly task?: string
  /** Gets the counts so far, after each fifty members. */
  readonly onProgress?: (report: BulkReport) => void
  /** Ends the act after the members that it is at. */
  readonly signal?: AbortSignal
}

/** The outcome of an act. */
export interface BulkReport {
  /** Members for whom it was done, or already was as it should be. */
  readonly done: number
  readonly refused: number
  /** The first thousand members who were refused, and why. */
  readonly refusals: readonly { readonly id: Id; readonly name: string; readonly reason: string }[]
  /** Ids or addresses of the list that no member has; the first thousand. */
  readonly missing: readonly string[]
}

/** `community.members.bulk`; see there. */
export type Bulk = (network: Id | number, selection: MemberSelection, act: BulkAct, options?: BulkOptions) => Promise<BulkReport>

/** The operation of each act on one member, and its input. */
const operations: Readonly<Record<Given, (member: Id, of: Id) => readonly [string, object]>> = {
  tag: (member_id: Id, tag_id: Id) => ['member_tags.create', { params: { member_id }, body: { tag_id } }],
  untag: (member_id: Id, tag_id: Id) => ['member_tags.delete', { params: { member_id, tag_id } }],
  badge: (member_id: Id, badge_id: Id) => ['member_badges.create', { params: { member_id }, body: { badge_id } }],
  unbadge: (member_id: Id, badge_id: Id) => ['member_badges.delete', { params: { member_id, badge_id } }],
  space: (user_id: Id, space_id: Id) => ['space_members.create', { params: { space_id }, query: { user_id } }],
  plan: (user_id: Id, plan_id: Id) => ['plan_members.create', { params: { plan_id }, query: { user_id } }],
}

/** The operation that shows what an act is about. */
const showing = (act: Given): string => `${act.replace('un', '')}s.show`

const fields = {
  ...{ tag: optional(IdInput), untag: optional(IdInput), badge: optional(IdInput), unbadge: optional(IdInput) },
  ...{ space: optional(IdInput), plan: optional(IdInput) },
  consent: optional(BoolInput),
  remove: optional(shape({ cancel_plans: optional(BoolInput) })),
  ban: optional(shape({ reason: optional(LongText), cancel_plans: optional(BoolInput) })),
}
const Act = v.pipe(
  shape(fields),
  v.check((act) => hasOne(act), `must have one of ${Object.keys(fields).join(', ')}`),
)
type Selection = v.InferOutput<typeof MemberSelectionInput>
const Options = shape({ task: optional(ShortText) })

/** Members of one transaction. */
const batchSize = 50
const mostListed = 1000
/** The act was done for them before, as it should be: it gives what they have, or takes what they don't. */
const [has, lacks] = [/already (?:assigned|a member of this space)/, /^(?:Tag|Badge) not found$/]

const givenIn = (act: Readonly<Partial<Record<Given, Id | undefined>>>) =>
  (Object.keys(operations) as Given[]).flatMap((name) => (act[name] === undefined ? [] : [[name, act[name]] as const]))

/** A long list in batches, each of which is looked up once. */
function partsOf(selection: Selection): Selection[] {
  const { ids, addresses } = selection
  if (ids === undefined && addresses === undefined) return [selection]
  const all = ids ? [...new Set(ids)] : [...new Map(addresses?.map((address) => [emailKey(address), address])).values()]
  return Array.from({ length: Math.ceil(all.length / batchSize) }, (_, part) => {
    const some = all.slice(part * batchSize, (part + 1) * batchSize)
    return ids ? { ids: some } : { addresses: some }
  })
}

export const bulkOf =
  ({ clock, limits }: Settings, changes: Changes, networks: Networks, together: Together<RowCalls>): Bulk =>
  async (given, selected, what, { onProgress, signal, ...options } = {}) => {
    const selection = checkArgument('the selection', MemberSelectionInput, selected, limits)
    const act = checkArgument('the act', Act, what, limits)
    const asWanted = act.untag === undefined && act.unbadge === undefined ? has : lacks
    const { task } = checkArgument('the options', Options, options, limits)
    const network = await networks.show(given)
    const counts = { done: 0, refused: 0 }
    const refusals: { id: Id; name: string; reason: string }[] = []
    const missing: string[] = []
    const report = (): BulkReport => ({ ...counts, refusals, missing })

    async function perform({ call, members, notify }: RowCalls, id: Id): Promise<void> {
      const { consent, remove, ban, ...other } = act
      if (consent !== undefined) return void (await notify.emailConsent({ network: network.id, member_id: id, consent }))
      if (remove) return void (await members.remove(network.id, id, { cancel_plans: remove.cancel_plans === true }))
      if (ban) {
        const reason = ban.reason === undefined ? {} : { reason: ban.reason }
        return void (await members.ban(network.id, id, { ...reason, cancel_plans: ban.cancel_plans !== false }))
      }
      for (const [name, of] of givenIn(other)) {
        const [operation, input] = operations[name](id, of)
        await call(operation, { network: network.id, ...input })
      }
    }

    /** Why each member is refused; of one who is not there is no reason. */
    const runBatch = (rows: readonly MemberRow[]) =>
      together(async (calls) => {
        const refused: { id: Id; name: string; reason: string }[] = []
        // In one order, or acts on lists of different orders wait for each other in circles.
        for (const row of rows.toSorted((a, b) => compareIds(a.id, b.id)))
          try {
            await perform(calls, row.id)
          } catch (error) {
            if (!isApiError(error) || error.status >= 500) throw error
            if (!asWanted.test(error.message)) refused.push({ id: row.id, name: fullName(row), reason: error.message })
          }
        return refused
      })

    // What does not exist is refused once, and not for every member.
    for (const [name, id] of givenIn(act))
      await together(({ call }) => call(showing(name), { network: network.id, params: { id } }))
    for (const part of partsOf(selection))
      for (let after: string | null | undefined; after !== null && !signal?.aborted; ) {
        const from: string | undefined = after
        const page = await changes.read(network.id, (tx) => selectMembers(tx, network, part, from, batchSize))
        const refused = page.rows.length > 0 ? await runBatch(page.rows) : []
        counts.done += page.rows.length - refused.length
        counts.refused += refused.length
        refusals.push(...refused.slice(0, mostListed - refusals.length))
        missing.push(...page.missing.slice(0, mostListed - missing.length))
        after = page.next
        onProgress?.(report())
      }
    await changes.change(network.id, isoTime(clock.now()), async () => {
      const subject = { type: 'network', id: network.id, name: null } as const
      const details = { act, ...counts, ...(task === undefined ? {} : { task }) }
      return { result: undefined, audit: [{ action: 'members.bulk', subject, details }] }
    })
    return report()
  }
