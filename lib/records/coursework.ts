import type * as v from 'valibot'
import type { Context } from '../context.ts'
import { describe, Id, Integer, oneOf, orNull, record, Text } from '../fields.ts'
import type { CourseworkRow } from '../storage/tables/content.ts'
import { Permalink, stamps } from './stamps.ts'

export const CourseworkType = oneOf('lesson', 'quiz', 'section', 'overview')
export const CourseworkStatus = oneOf('posted', 'hidden', 'pending')
export const CompletionCriteria = oneOf('none', 'visited', 'button', 'video', 'minimum_correct_percentage')
export const UnlockingCriteria = oneOf('none', 'sequential', 'time_from_course_join', 'scheduled_date')

export const Coursework = record('CourseworkResponse', {
  ...stamps,
  space_id: describe(Id, 'The space that holds the course.'),
  type: describe(
    CourseworkType,
    'The kind of item. Each course has one `overview`, which holds all the others, directly or in sections.',
  ),
  parent_id: describe(orNull(Id), 'The section or overview that holds the item; null for the overview.'),
  parent_type: describe(orNull(oneOf('section', 'overview')), 'The kind of item that `parent_id` names; null for the overview.'),
  title: describe(Text, 'The title of the item; it may be empty.'),
  description: describe(orNull(Text), 'The content of the item; null if there is none.'),
  status: describe(CourseworkStatus, 'Whether members see the item. `hidden` and `pending` ones are for hosts alone.'),
  position: describe(Integer, 'The place among the items of the same parent, from 1.'),
  completion_criteria: describe(CompletionCriteria, 'What a member must do to complete the item; `none` if nothing.'),
  unlocking_criteria: describe(UnlockingCriteria, 'What must happen before a member may open the item; `none` if nothing.'),
  children_count: describe(Integer, 'The number of items directly below it.'),
  permalink: Permalink,
})
export type CourseworkRecord = v.InferOutput<typeof Coursework>

/** A course item's record. `parent` is the row that `parent_id` names. */
export function presentCoursework(
  context: Pick<Context, 'permalink'>,
  row: CourseworkRow,
  parent: CourseworkRow | undefined,
): CourseworkRecord {
  return {
    ...row,
    parent_type: parent?.type === 'section' || parent?.type === 'overview' ? parent.type : null,
    permalink: context.permalink('courseworks', row.id),
  }
}
