import * as v from 'valibot'
import type { Emitter } from '../call.ts'
import { fail, found, invalid, notFound, refused } from '../errors.ts'
import {
  BoolInput,
  DateInput,
  describe,
  HttpUrl,
  IdInput,
  integerBetween,
  LongText,
  listUpTo,
  optionalOrNull,
  paged,
  publish,
  request,
  ShortText,
  Title,
} from '../fields.ts'
import { operation } from '../operation.ts'
import { Answer, presentAnswer } from '../records/answer.ts'
import { presentMember } from '../records/member.ts'
import { noValue, readAnswer, textOfAnswer, unsupported } from '../rules/answers.ts'
import { choicesOf } from '../rules/categories.ts'
import { choicesIn, choose, maxChoices, sameChoices } from '../rules/choices.ts'
import { activeMember, lockMember } from '../rules/members.ts'
import { fieldOf, isDropdown, lockField } from '../rules/options.ts'
import { differs } from '../storage/changes.ts'
import { type AnswerRow, answers, type CustomFieldRow, type SegmentRow } from '../storage/tables/custom-fields.ts'
import { type MemberRow, members } from '../storage/tables/members.ts'

const maxLocations = 100

const between = (least: number, most: number) => {
  const sentence = `must be a number from ${least} to ${most}`
  return publish(v.pipe(v.number(sentence), v.minValue(least, sentence), v.maxValue(most, sentence)), {
    type: 'number',
    minimum: least,
    maximum: most,
  })
}
const Latitude = between(-90, 90)
const Longitude = between(-180, 180)
const Location = request('LocationValueRequest', {
  label: describe(Title, 'The name of the place, as members will read it.'),
  latitude: describe(Latitude, 'Degrees north of the equator, from -90 to 90.'),
  longitude: describe(Longitude, 'Degrees east of Greenwich, from -180 to 180.'),
})

const AnswerUpsert = request('CustomFieldAnswerRequest', {
  text: describe(
    optionalOrNull(LongText),
    'The answer to a `text_short` or `text_long` field; for a dropdown with `allow_ad_hoc`, a new option to add and choose.',
  ),
  segment_ids: describe(
    optionalOrNull(listUpTo(IdInput, maxChoices, 'ids')),
    'The chosen options of a dropdown, all of them; an empty list clears the answer.',
  ),
  number: describe(
    optionalOrNull(integerBetween(0, Number.MAX_SAFE_INTEGER)),
    'The answer to a `number` field, a whole number within the bounds of the field.',
  ),
  boolean_value: describe(optionalOrNull(BoolInput), 'The answer to a `boolean` field.'),
  date: describe(optionalOrNull(DateInput), 'The answer to a `date` field.'),
  start_date: describe(optionalOrNull(DateInput), 'The first day of a `date_range` answer, together with `end_date`.'),
  end_date: describe(optionalOrNull(DateInput), 'The last day of a `date_range` answer; not before `start_date`.'),
  month: describe(optionalOrNull(integerBetween(1, 12)), 'The month of a `recurring_date` answer, together with `day`.'),
  day: describe(
    optionalOrNull(integerBetween(1, 31)),
    'The day of a `recurring_date` answer; one that the month has, the 29th of February included.',
  ),
  url: describe(optionalOrNull(HttpUrl), 'The answer to a `url` field, an absolute http or https URL.'),
  phone_number: describe(
    optionalOrNull(ShortText),
    'The answer to a `phone_number` field, in international form like `+49 30 901820`.',
  ),
  latitude: describe(optionalOrNull(Latitude), 'Degrees north of the equator of a `location` answer, together with `longitude`.'),
  longitude: describe(optionalOrNull(Longitude), 'Degrees east of Greenwich of a `location` answer, together with `latitude`.'),
  locations: describe(
    optionalOrNull(listUpTo(Location, maxLocations, 'places')),
    'The places of a `multi_location` answer, all of them; an empty list clears the answer.',
  ),
})

const base = '/custom_fields/:custom_field_id/members/:member_id/answers'
const notAllowed = refused('This answer is the member’s own or for hosts only: act as the member or as a host of the network')
const missing = [notFound('Custom field'), notFound('Member')] as const

export const listAnswers = operation({
  id: 'answers.list',
  method: 'GET',
  path: base,
  scope: 'answers:read',
  summary: 'List the answers of a member to a custom field: one, or none.',
  description: 'A member has one answer to a field at most, so the list holds one record or none.',
  returns: paged(Answer),
  errors: [...missing],
  async handle(call) {
    const { field, member } = await partiesOf(call, call.params)
    return call.page(answers, { where: { custom_field_id: field.id, member_id: member.id } }, async (rows) => {
      const chosen = await choicesOf(call.tx, field.id, member.id)
      return rows.map((row) => presentAnswer(field, row, chosen))
    })
  },
})

export const upsertAnswer = operation({
  id: 'answers.upsert',
  method: 'POST',
  path: base,
  scope: 'answers:write',
  summary: 'Set the answer of a member to a custom field, replace it, or clear it with an empty value.',
  description:
    "Send the fields that go with the kind of the custom field; null or an empty value clears the answer, which is a 204. The token's owner must be a host, or answer for themselves where the field allows it. It sends an event of what changed, and none if nothing did.",
  body: AnswerUpsert,
  example: { text: 'Step by step' },
  returns: Answer,
  noContent: 'The answer was cleared.',
  errors: [...missing, notAllowed, invalid('custom_field_id', ...Object.keys(AnswerUpsert.entries))],
  emits: ['CustomFieldResponseCreated', 'CustomFieldResponseUpdated', 'CustomFieldResponseRemoved'],
  async handle(call) {
    const parties = await lockParties(call, call.params)
    const { field, member } = parties
    await permit(call, parties)
    const before = await lastAnswer(call, parties)
    const choices = isDropdown(field) ? await choicesIn(call, parties, call.body) : []
    const value = isDropdown(field) ? (choices.length > 0 ? noValue : undefined) : await readAnswer(call, field, call.body)
    if (!value) {
      if (before) await removeAnswer(call, parties, before)
      return undefined
    }
    if (before && !differs(before.row, value) && sameChoices(before.chosen, choices))
      return presentAnswer(field, before.row, before.chosen)
    const key = { custom_field_id: field.id, member_id: member.id }
    const row = before
      ? found(await call.tx.touch(answers, before.row.id, { ...value, last_edited_at: call.now, ...call.touch() }), 'Answer')
      : await call.tx.insert(answers, { ...call.stamp(), ...key, ...value, last_edited_at: call.now })
    await choose(call, parties, before?.chosen ?? [], choices)
    const chosen = await choicesOf(call.tx, field.id, member.id)
    // As everybody sees the member from now on, their categories included.
    const about = await aboutOf(call, parties)
    const text = textOfAnswer(field, row)
    if (before) {
      const previous = { text: textOfAnswer(field, before.row), segments: [...before.chosen] }
      const payload = {
        ...about,
        previous_text: previous.text,
        new_text: text,
        previous_segments: previous.segments,
        new_segments: chosen,
      }
      call.emit('CustomFieldResponseUpdated', payload, [previous, { text, segments: chosen }])
    } else call.emit('CustomFieldResponseCreated', { ...about, text, segments: chosen })
    return presentAnswer(field, row, chosen)
  },
})

export const showAnswer = operation({
  id: 'answers.show',
  method: 'GET',
  path: `${base}/:id/`,
  scope: 'answers:read',
  summary: 'Show an answer.',
  description: 'The answer must be that of this member to this field; any other id is a 404.',
  returns: Answer,
  errors: [...missing, notFound('Answer')],
  async handle(call) {
    const { field, member } = await partiesOf(call, call.params)
    const row = await call.tx.get(answers, call.params.id)
    const isTheirs = row?.custom_field_id === field.id && row.member_id === member.id
    return presentAnswer(field, found(isTheirs ? row : undefined, 'Answer'), await choicesOf(call.tx, field.id, member.id))
  },
})

/** On the path of the list, without an id: there is one answer at most. */
export const deleteAnswer = operation({
  id: 'answers.delete',
  method: 'DELETE',
  path: base,
  scope: 'answers:write',
  summary: 'Delete the answer of a member to a custom field.',
  description:
    'There is one answer at most, so the path needs no id. The same people may do it as may set the answer. Tags and badges are taken away by their own operations.',
  errors: [...missing, notFound('Answer'), notAllowed, invalid('custom_field_id')],
  emits: ['CustomFieldResponseRemoved'],
  async handle(call) {
    const parties = await lockParties(call, call.params)
    const { response_type } = parties.field
    if (response_type === 'tag' || response_type === 'badge') fail(invalid('custom_field_id'), unsupported(parties.field))
    await permit(call, parties)
    await removeAnswer(call, parties, found(await lastAnswer(call, parties), 'Answer'))
  },
})

interface Parties {
  readonly field: CustomFieldRow
  readonly member: MemberRow
}

interface AnswerInput {
  readonly row: AnswerRow
  readonly chosen: readonly SegmentRow[]
}

type AnswerCall = Emitter<'CustomFieldResponseRemoved'>

/** @throws ApiError 404 */
async function partiesOf(
  call: Pick<AnswerCall, 'tx'>,
  { custom_field_id, member_id }: { readonly custom_field_id: string; readonly member_id: string },
): Promise<Parties> {
  return { field: await fieldOf(call, custom_field_id), member: await activeMember(call, member_id) }
}

/**
 * The same, locked: neither is removed at the same time, and of two new answers of a member the second one sees the first. Answers of several
 * members to one field do not wait for each other, even if they add options.
 * @throws ApiError 404
 */
async function lockParties(
  call: Pick<AnswerCall, 'tx'>,
  { custom_field_id, member_id }: { readonly custom_field_id: string; readonly member_id: string },
): Promise<Parties> {
  return { field: await lockField(call, custom_field_id, 'share'), member: await lockMember(call, member_id) }
}

/**
 * Hosts answer for everybody; members for themselves, where the field leaves it to them.
 * @throws ApiError 403
 */
async function permit({ tx, principal }: Pick<AnswerCall, 'tx' | 'principal'>, { field, member }: Parties): Promise<void> {
  const actor = await tx.get(members, principal.member_id)
  const isHost = actor?.state === 'active' && actor.role === 'host'
  if (!isHost && (actor?.id !== member.id || field.response_by === 'hosts_only')) fail(notAllowed)
}

async function lastAnswer({ tx }: Pick<AnswerCall, 'tx'>, { field, member }: Parties): Promise<AnswerInput | undefined> {
  const row = await tx.first(answers, { custom_field_id: field.id, member_id: member.id })
  return row && { row, chosen: await choicesOf(tx, field.id, member.id) }
}

async function removeAnswer(call: AnswerCall, parties: Parties, { row, chosen }: AnswerInput): Promise<void> {
  await call.tx.remove(answers, row.id)
  await choose(call, parties, chosen, [])
  const text = textOfAnswer(parties.field, row)
  call.emit('CustomFieldResponseRemoved', { ...(await aboutOf(call, parties)), text, segments: [...chosen] })
}

async function aboutOf(call: Pick<AnswerCall, 'tx' | 'network' | 'permalink'>, { field, member }: Parties) {
  const current = (await call.tx.get(members, member.id)) ?? member
  return { member: presentMember(call, current), custom_field: field, network_id: call.network.id }
}
