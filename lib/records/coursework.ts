import type * as v from 'valibot'
import type { Context } from '../context.ts'
import { Id, Integer, oneOf, orNull, record, Text, Timestamp, Url } from '../fields.ts'
import type { CourseworkRow } from '../storage/tables/content.ts'

export const CourseworkType = oneOf('lesson', 'quiz', 'section', 'overview')
export const CourseworkStatus = oneOf('posted', 'hidden', 'pending')
export const CompletionCriteria = oneOf('none', 'visited', 'button', 'video', 'minimum_correct_percentage')
export const UnlockingCriteria = oneOf('none', 'sequential', 'time_from_course_join', 'scheduled_date')

export const Coursework = record('CourseworkResponse', {
  id: Id,
  created_at: Timestamp,
  updated_at: Timestamp,
  space_id: Id,
  type: CourseworkType,
  parent_id: orNull(Id),
  parent_type: orNull(oneOf('section', 'overview')),
  title: Text,
  description: orNull(Text),
  status: CourseworkStatus,
  position: Integer,
  completion_criteria: CompletionCriteria,
  unlocking_criteria: UnlockingCriteria,
  children_count: Integer,
  permalink: Url,
})
export type CourseworkRecord = v.InferOutput<typeof Coursework>

/** A course item's record. `parent` is the row that `parent_id` names. */
export function presentCoursework(
  context: Pick<Context, 'permalink'>,
  row: CourseworkRow,
  parent: CourseworkRow | undefined,
): CourseworkRecord {
  return {
    id: row.id,
    created_at: row.created_at,
    updated_at: row.updated_at,
    space_id: row.space_id,
    type: row.type,
    parent_id: row.parent_id,
    parent_type: parent?.type === 'section' || parent?.type === 'overview' ? parent.type : null,
    title: row.title,
    description: row.description,
    status: row.status,
    position: row.position,
    completion_criteria: row.completion_criteria,
    unlocking_criteria: row.unlocking_criteria,
    children_count: row.children_count,
    permalink: context.permalink('courseworks', row.id),
  }
}
