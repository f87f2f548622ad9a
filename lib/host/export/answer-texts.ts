/** The answers of some members as texts. */
import { noValue } from '../../rules/answers.ts'
import { rowsNamed } from '../../storage/rows-of.ts'
import type { ScopedTx } from '../../storage/scoped.ts'
import type { Id } from '../../storage/table.ts'
import {
  type AnswerRow,
  answers,
  type CustomFieldRow,
  customFields,
  memberSegments,
  type SegmentRow,
  segments,
} from '../../storage/tables/custom-fields.ts'
import { textOf } from '../members/answer-text.ts'

/** The columns of an answer that `answer` stands for. */
export const valueColumns = Object.keys(noValue) as (keyof typeof noValue)[]

/** The tags, badges and options of members. */
export async function segmentsOf(tx: ScopedTx, member_id: readonly Id[]): Promise<(member: Id) => readonly SegmentRow[]> {
  const held = await tx.find(memberSegments, { where: { member_id } })
  const byId = await rowsNamed(tx, segments, 'segment_id', held)
  const byMember = Map.groupBy(held, (row) => row.member_id)
  return (member) => (byMember.get(member) ?? []).flatMap(({ segment_id }) => byId.get(segment_id) ?? [])
}

const answerText = (field: CustomFieldRow, row: AnswerRow, held: readonly SegmentRow[]): string =>
  textOf(
    field,
    row,
    held.filter(({ custom_field_id }) => custom_field_id === field.id),
  )

export async function answerTexts(tx: ScopedTx, rows: readonly AnswerRow[]) {
  const fields = await rowsNamed(tx, customFields, 'custom_field_id', rows)
  const held = await segmentsOf(tx, [...new Set(rows.map(({ member_id }) => member_id))])
  return rows.map((row) => {
    const field = fields.get(row.custom_field_id)
    return field ? { field: field.title, answer: answerText(field, row, held(row.member_id)) } : {}
  })
}

/** The answers of members, by member and field. */
export async function answersOf(
  tx: ScopedTx,
  fields: readonly CustomFieldRow[],
  ids: readonly Id[],
  held: (member: Id) => readonly SegmentRow[],
): Promise<(member: Id, field: CustomFieldRow) => string | null> {
  const rows = fields.length === 0 ? [] : await tx.find(answers, { where: { member_id: ids } })
  const byKey = new Map(rows.map((row) => [`${row.member_id}_${row.custom_field_id}`, row]))
  return (member, field) => {
    const row = byKey.get(`${member}_${field.id}`)
    return row ? answerText(field, row, held(member)) : null
  }
}
