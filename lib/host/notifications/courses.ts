/** How members get on with courses. */
import { fail, found, invalid } from '../../errors.ts'
import { catalogue } from '../../events/catalogue.ts'
import { IdInput, integerBetween, oneOf, optional } from '../../fields.ts'
import { presentCoursework } from '../../records/coursework.ts'
import { presentMember } from '../../records/member.ts'
import { activeMember } from '../../rules/members.ts'
import { courseworks } from '../../storage/tables/content.ts'
import { spaces } from '../../storage/tables/members.ts'
import type { MakeNotification } from './define.ts'

const events = {
  started: 'MemberCourseProgressStarted',
  updated: 'MemberCourseProgressUpdated',
  completed: 'MemberCourseProgressCompleted',
} as const

export const courseNotifications = (notification: MakeNotification) => ({
  /**
   * A member has made progress in a course, which is a space. Sends `MemberCourseProgressStarted` at 0 percent, `…Completed` at
   * 100, `…Updated` between; `progress` overrides that. Without a percentage a start counts as 0 and a completion as 100.
   * @throws ApiError 404 for the member or the space, 422 when neither `progress` nor `progress_percent` is given
   */
  courseProgress: notification(
    {
      member_id: IdInput,
      space_id: IdInput,
      progress_percent: optional(integerBetween(0, 100)),
      progress: optional(oneOf('started', 'updated', 'completed')),
    },
    catalogue.MemberCourseProgressUpdated,
    async (call, { member_id, space_id, progress, progress_percent }) => {
      const member = await activeMember(call, member_id)
      const course = found(await call.tx.get(spaces, space_id), 'Space')
      const step = progress ?? stepAt(progress_percent)
      const assumed = { started: 0, updated: null, completed: 100 }[step]
      const record = { member: presentMember(call, member), course, progress_percent: progress_percent ?? assumed }
      call.emit(events[step], record)
      return record
    },
  ),

  /**
   * A member has completed a lesson: `MemberLessonCompleted`.
   * @throws ApiError 404 for the member or the coursework, 422 when it is no lesson
   */
  lessonCompleted: notification(
    { member_id: IdInput, coursework_id: IdInput },
    catalogue.MemberLessonCompleted,
    async (call, given) => {
      const member = await activeMember(call, given.member_id)
      const lesson = found(await call.tx.get(courseworks, given.coursework_id), 'Coursework')
      if (lesson.type !== 'lesson') fail(invalid('coursework_id'), `coursework_id must name a lesson, not a ${lesson.type}`)
      const course = found(await call.tx.get(spaces, lesson.space_id), 'Space')
      const parent = lesson.parent_id === null ? undefined : await call.tx.get(courseworks, lesson.parent_id)
      const record = { member: presentMember(call, member), course, lesson: presentCoursework(call, lesson, parent) }
      call.emit('MemberLessonCompleted', record)
      return record
    },
  ),
})

const stepAt = (percent: number | undefined): keyof typeof events => {
  if (percent === undefined) fail(invalid('progress_percent'), 'progress_percent or progress is required')
  if (percent === 0) return 'started'
  return percent === 100 ? 'completed' : 'updated'
}
