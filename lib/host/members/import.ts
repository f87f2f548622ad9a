/**
 * Members from a file or another system. Each row is a call of the operations that create a member, so hooks, rules and events are
 * the same. A hundred rows share a transaction. An address is imported once: a repetition goes on where the first one broke off.
 */
import { isoTime } from '../../base/clock.ts'
import { isDay } from '../../base/date-time.ts'
import { fail, invalid, isApiError } from '../../errors.ts'
import { BoolInput, IdInput, integerBetween, listUpTo, optional, Title } from '../../fields.ts'
import { emailKey, membersByKeys } from '../../rules/members.ts'
import { ownField } from '../../rules/segments.ts'
import { segmentTitled } from '../../rules/titles.ts'
import type { Settings } from '../../settings.ts'
import type { ScopedTx } from '../../storage/scoped.ts'
import type { Id } from '../../storage/table.ts'
import { type CustomFieldRow, customFields } from '../../storage/tables/custom-fields.ts'
import { type MemberRow, spaces } from '../../storage/tables/members.ts'
import { plans } from '../../storage/tables/plans.ts'
import { checkArgument, shape } from '../arguments.ts'
import type { Changes } from '../audit/changes.ts'
import type { AnyDirectCall } from '../direct-calls.ts'
import type { Networks } from '../networks.ts'
import type { Notify } from '../notifications/index.ts'
import type { MemberActs } from './acts.ts'
import { answerOfText, joinTitles, splitTitles, truths } from './answer-text.ts'
import type { Together } from './together.ts'

/** One person: values by column. A column is a field of members, `name`, `tags`, or the title of a custom field. Texts are trimmed. */
export type ImportRow = Readonly<Record<string, unknown>>

/** How members are imported. */
export interface ImportOptions {
  /** The name of the import, which its members carry as a tag: select or remove them by it. `Import 2026-11-28 10:00` by default. */
  readonly name?: string
  /** Plans that they get, free or non-paid, and spaces that they join. */
  readonly plan_ids?: readonly (Id | number)[]
  readonly space_ids?: readonly (Id | number)[]
  /** Titles of tags that they get; those that are missing are made. */
  readonly tags?: readonly string[]
  /** Whether members who are there are changed to what the row says; they are left alone by default. */
  readonly update?: boolean
  /** Whether no event goes out. The audit says so. */
  readonly quiet?: boolean
  /** Whether the host is asked to mail a welcome; false by default. */
  readonly welcome?: boolean
  /** Of a long import that comes in several calls: what those before have counted. The counts go on from there. */
  readonly before?: ImportCounts
  /** Whether another call follows. The audit has the beginning and the end of an import, whatever its calls. */
  readonly more?: boolean
  /** Gets the counts so far, after each hundred rows. */
  readonly onProgress?: (report: ImportReport) => void
  /** Gets each row or value that is refused. */
  readonly onRefused?: (refusal: ImportRefusal) => void
  /** Ends the import after the rows that it is at. */
  readonly signal?: AbortSignal
}

/** A row that was refused, or a value of a row whose other values were taken. */
export interface ImportRefusal {
  /** The number of the row, from 1. */
  readonly row: number
  readonly email: string | null
  /** The column, where one is to blame. */
  readonly column: string | null
  /** What is wrong, in a sentence. */
  readonly reason: string
  /** Whether the member is there all the same, without this value. */
  readonly is_imported: boolean
}

/** The counts of an import. */
export interface ImportCounts {
  readonly rows: number
  readonly created: number
  readonly updated: number
  /** Members who were there, and are as they were. */
  readonly known: number
  readonly refused: number
}

type Outcome = Exclude<keyof ImportCounts, 'rows'>

/** What an import has done. */
export interface ImportReport extends ImportCounts {
  readonly name: string
  /** Columns that are no field of a member, which were left out. */
  readonly ignored: readonly string[]
  /** The first ten thousand rows and values that were refused. */
  readonly refusals: readonly ImportRefusal[]
}

/** The calls that a row of an import, or a member of a bulk act, needs. */
export interface RowCalls {
  readonly call: AnyDirectCall
  readonly notify: Pick<Notify, 'emailConsent' | 'memberProfile' | 'memberVisited'>
  readonly members: MemberActs
}

const Count = integerBetween(0, Number.MAX_SAFE_INTEGER)
const Options = shape({
  name: optional(Title),
  plan_ids: optional(listUpTo(IdInput, 20, 'ids')),
  space_ids: optional(listUpTo(IdInput, 100, 'ids')),
  tags: optional(listUpTo(Title, 20, 'titles')),
  update: optional(BoolInput),
  quiet: optional(BoolInput),
  welcome: optional(BoolInput),
  before: optional(shape({ rows: Count, created: Count, updated: Count, known: Count, refused: Count })),
  more: optional(BoolInput),
})

const mostRefusals = 10_000
/** Rows of one transaction. */
const batchSize = 100
const account = ['email', 'first_name', 'last_name', 'role', 'member_type'] as const
const profile = ['commercial_email_consent', 'time_zone', 'location', 'bio', 'avatar'] as const
const further = ['name', 'tags', 'last_visited_at', 'state'] as const
/** The columns that are fields of members; any other is the title of a custom field. */
export const importColumns: readonly string[] = [...account, ...profile, ...further]
const known: ReadonlySet<string> = new Set(importColumns)

/** `community.members.import`; see there. */
export type ImportMembers = (
  network: Id | number,
  rows: AsyncIterable<ImportRow> | Iterable<ImportRow>,
  options?: ImportOptions,
) => Promise<ImportReport>

export const importOf =
  ({ clock, limits }: Settings, changes: Changes, networks: Networks, together: Together<RowCalls>): ImportMembers =>
  async (given, rows, { onProgress, onRefused, signal, ...options } = {}) => {
    const how = checkArgument('the import of members', Options, options, limits)
    const { id: network } = await networks.show(given)
    const { name = `Import ${isoTime(clock.now()).slice(0, 16).replace('T', ' ')}`, update = false, quiet = false } = how
    const fields = await changes.read(network, async (tx) => {
      await refuseUnfit(tx, how.plan_ids, how.space_ids)
      return tx.find(customFields, {})
    })
    // As an export names them: of several fields with one title, the first has it alone.
    const byTitle = new Map(
      fields.toReversed().flatMap((field) => {
        const title = field.title.trim().toLowerCase()
        return [title, `${title} (${field.id})`].map((column) => [column, field] as const)
      }),
    )
    const counts = { rows: 0, created: 0, updated: 0, known: 0, refused: 0, ...how.before }
    const ignored = new Set<string>()
    const refusals: ImportRefusal[] = []
    const report = (): ImportReport => ({ name, ...counts, ignored: [...ignored], refusals })
    const line = (details: object) =>
      changes.change(network, isoTime(clock.now()), async () => {
        const subject = { type: 'network', id: network, name } as const
        return { result: undefined, audit: [{ action: 'members.imported', subject, details: { name, quiet, ...details } }] }
      })
    const tagIds = new Map<string, Id>()

    /** The tag with this title, made if it is missing. */
    async function tagOf({ call }: RowCalls, read: Changes['read'], title: string): Promise<Id> {
      const seen = tagIds.get(title)
      if (seen !== undefined) return seen
      const tag = await read(network, async (tx) => segmentTitled({ tx }, await ownField({ tx }, 'tag'), title))
      const { id } = tag ?? ((await call('tags.create', { network, body: { title } })) as { id: Id })
      tagIds.set(title, id)
      return id
    }

    async function runBatch(batch: readonly NumberedRow[]): Promise<void> {
      const people = batch.map((row) => readRow(row, byTitle, ignored))
      const notes: ImportRefusal[] = []
      const outcomes = await together(async (calls, read) => {
        // It may run again, when nothing of the first time is there.
        notes.length = 0
        tagIds.clear()
        const there = await read(network, (tx) => knownBy(tx, people))
        const done: Outcome[] = []
        for (const person of people) done.push(await importPerson(calls, read, person, there, notes))
        return done
      }, quiet)
      for (const outcome of outcomes) counts[outcome]++
      counts.rows += batch.length
      for (const note of notes) {
        if (refusals.length < mostRefusals) refusals.push(note)
        onRefused?.(note)
      }
      onProgress?.(report())
    }

    async function importPerson(
      calls: RowCalls,
      read: Changes['read'],
      person: Person,
      there: Map<string, MemberRow>,
      notes: ImportRefusal[],
    ): Promise<Outcome> {
      const { row, email } = person
      const refuse = (reason: string, column: string | null, is_imported: boolean) =>
        notes.push({ row, email: email || null, column, reason, is_imported })
      /** @returns the column; undefined if they are or have that already, as they should. @throws what is no refusal, such as a fault */
      const refuseFor = (error: unknown, column: string | null, is_imported: boolean): string | null | undefined => {
        if (!isApiError(error) || error.status >= 500) throw error
        const { message } = error
        if (/already (assigned|a member)/.test(message)) return undefined
        const [word = ''] = message.split(/[ :]/, 1)
        const named = column ?? (known.has(word) ? word : null)
        refuse(message.replace(/^visited_at/, 'last_visited_at'), named, is_imported)
        return named
      }
      const [first] = person.problems
      if (first) {
        for (const { column, reason } of person.problems) refuse(reason, column, false)
        return 'refused'
      }
      const holder = there.get(emailKey(email))
      const isThere = holder?.state === 'active'
      if (isThere && !update) return 'known'
      let id: Id
      try {
        const params = { id: holder?.id ?? '' }
        const member = isThere
          ? await calls.call('members.update', { network, params, body: person.account })
          : await calls.call('members.create', {
              network,
              body: { last_name: '', ...person.account, send_welcome_email: how.welcome === true },
            })
        id = (member as { id: Id }).id
      } catch (error) {
        // Another import may have made them in this moment.
        return refuseFor(error, null, false) === undefined ? 'known' : 'refused'
      }
      // Twice in one file is once.
      if (!isThere) there.set(emailKey(email), { ...(holder ?? ({} as MemberRow)), id, state: 'active' })
      const step = async (column: string | null, work: () => Promise<unknown>) => {
        try {
          await work()
        } catch (error) {
          return refuseFor(error, column, true)
        }
      }
      // Again without a value that was refused: the others are taken.
      for (let given = Object.entries(person.profile); given.length > 0; ) {
        const profile = Object.fromEntries(given)
        const refused = await step(null, () => calls.notify.memberProfile({ network, member_id: id, ...profile }))
        const rest = given.filter(([column]) => column !== refused)
        given = rest.length < given.length ? rest : []
      }
      const { visited } = person
      if (visited !== undefined)
        await step('last_visited_at', () => calls.notify.memberVisited({ network, member_id: id, visited_at: visited }))
      for (const { field, text } of person.answers)
        await step(field.title, async () => {
          const body = await read(network, (tx) => answerOfText(tx, field, text))
          await calls.call('answers.upsert', { network, params: { custom_field_id: field.id, member_id: id }, body })
        })
      for (const title of [...(isThere ? [] : [name]), ...(how.tags ?? []), ...person.tags])
        await step('tags', async () => {
          const body = { tag_id: await tagOf(calls, read, title) }
          await calls.call('member_tags.create', { network, params: { member_id: id }, body })
        })
      for (const space_id of how.space_ids ?? [])
        await step(null, () => calls.call('space_members.create', { network, params: { space_id }, query: { user_id: id } }))
      for (const plan_id of how.plan_ids ?? [])
        await step(null, () => calls.call('plan_members.create', { network, params: { plan_id }, query: { user_id: id } }))
      return isThere ? 'updated' : 'created'
    }

    if (!how.before) await line({ stage: 'started' })
    let batch: NumberedRow[] = []
    let number = counts.rows
    for await (const values of rows) {
      batch.push({ number: ++number, values })
      if (batch.length === batchSize) {
        await runBatch(batch)
        batch = []
        if (signal?.aborted) break
      }
    }
    if (batch.length > 0) await runBatch(batch)
    if (!how.more || signal?.aborted) await line({ stage: signal?.aborted ? 'stopped' : 'ended', ...counts })
    return report()
  }

interface NumberedRow {
  readonly number: number
  readonly values: ImportRow
}

/** A row, read. */
interface Person {
  readonly row: number
  readonly email: string
  readonly account: Readonly<Record<string, string>>
  readonly profile: Readonly<Record<string, string | boolean>>
  readonly visited: string | undefined
  readonly tags: readonly string[]
  readonly answers: readonly { readonly field: CustomFieldRow; readonly text: string }[]
  readonly problems: readonly { readonly column: string; readonly reason: string }[]
}

/** Lists are texts with semicolons, other objects are JSON. */
const textOfValue = (value: unknown): string => {
  if (typeof value !== 'object' || value === null) return String(value ?? '').trim()
  const isList = Array.isArray(value) && typeof value[0] !== 'object'
  return isList ? joinTitles(value.map((title) => ({ title: String(title) }))) : JSON.stringify(value)
}

function readRow({ number, values }: NumberedRow, byTitle: ReadonlyMap<string, CustomFieldRow>, ignored: Set<string>): Person {
  const texts = new Map<string, string>()
  const own: { field: CustomFieldRow; text: string }[] = []
  for (const [given, value] of Object.entries(values)) {
    const column = given.trim().toLowerCase()
    const text = textOfValue(value)
    const field = byTitle.get(column)
    if (known.has(column)) texts.set(column, text)
    else if (field && field.response_type !== 'tag' && field.response_type !== 'badge') {
      if (text !== '') own.push({ field, text })
    } else if (ignored.size < 1000) ignored.add(given)
  }
  const some = (names: readonly string[]) =>
    Object.fromEntries(names.flatMap((name) => (texts.get(name) ? [[name, texts.get(name) ?? '']] : [])))
  const whole = texts.get('name') ?? ''
  const visited = texts.get('last_visited_at') ?? ''
  const named = whole === '' ? {} : { first_name: whole.split(/\s+/, 1)[0] ?? '', last_name: whole.replace(/^\S+\s*/, '') }
  const problems: { column: string; reason: string }[] = []
  const refuse = (column: string, rule: string) => problems.push({ column, reason: `${column} ${rule}` })
  const email = texts.get('email') ?? ''
  if (email === '') refuse('email', 'is required')
  if ((texts.get('state') || 'active').toLowerCase() !== 'active')
    refuse('state', 'must be active: former members are not imported')
  const { commercial_email_consent: consent, ...profiled } = some(profile)
  const consents = consent === undefined ? undefined : truths[consent.toLowerCase()]
  if (consent !== undefined && consents === undefined) refuse('commercial_email_consent', 'must be yes or no')
  const lower = Object.fromEntries(
    Object.entries(some(['role', 'member_type'])).map(([name, text]) => [name, text.toLowerCase()]),
  )
  return {
    row: number,
    email,
    account: { ...named, ...some(account), ...lower },
    profile: { ...profiled, ...(consents === undefined ? {} : { commercial_email_consent: consents }) },
    visited: isDay(visited) ? `${visited}T00:00:00Z` : visited || undefined,
    tags: splitTitles(texts.get('tags') ?? ''),
    answers: own,
    problems,
  }
}

/** @throws ApiError 422 for a plan or a space that no row could have */
async function refuseUnfit(tx: ScopedTx, plan_ids: readonly Id[] = [], space_ids: readonly Id[] = []): Promise<void> {
  const refuse = (field: string, problem: string) => fail(invalid(field), `${field}: ${problem}`)
  for (const id of plan_ids) {
    const plan = (await tx.get(plans, id)) ?? refuse('plan_ids', `there is no plan ${id}`)
    if (plan.status === 'archived') refuse('plan_ids', `plan ${id} is archived and takes no more members`)
    if (plan.pricing_type !== 'free' && plan.pricing_type !== 'nonpaid')
      refuse('plan_ids', `plan ${id} must be paid for (${plan.pricing_type}); only a free or nonpaid plan can be given away`)
  }
  for (const id of space_ids) if (!(await tx.get(spaces, id))) refuse('space_ids', `there is no space ${id}`)
}

async function knownBy(tx: ScopedTx, people: readonly Person[]): Promise<Map<string, MemberRow>> {
  const email_key = [...new Set(people.map(({ email }) => emailKey(email)))]
  const rows = await membersByKeys(tx, email_key)
  return new Map(rows.map((row) => [row.email_key ?? '', row]))
}
