import type { Context } from '../context.ts'
import { found, invalid, notFound } from '../errors.ts'
import { byDefault, describe, IdInput, LongText, oneOf, optional, optionalOrNull, paged, request, ShortText } from '../fields.ts'
import { operation } from '../operation.ts'
import {
  CompletionCriteria,
  Coursework,
  type CourseworkRecord,
  CourseworkStatus,
  CourseworkType,
  presentCoursework,
  UnlockingCriteria,
} from '../records/coursework.ts'
import {
  checkDepth,
  checkParent,
  itemOf,
  lastPosition,
  lockSpace,
  move,
  overviewOf,
  sectionsAbove,
} from '../rules/course-tree.ts'
import { closeGap } from '../rules/positions.ts'
import { removeWithDependents } from '../storage/cascade.ts'
import { orConflict } from '../storage/lock.ts'
import { rowsNamed } from '../storage/rows-of.ts'
import type { Id } from '../storage/table.ts'
import { type CourseworkRow, courseworks } from '../storage/tables/content.ts'
import { type SpaceRow, spaces } from '../storage/tables/members.ts'

const changeable = {
  parent_id: describe(
    optional(IdInput),
    'The section or overview that holds the item, in the same space. A new item without it goes below the overview.',
  ),
  title: describe(optional(ShortText), 'The title of the item; empty unless you set it.'),
  description: describe(optionalOrNull(LongText), 'The content of the item; null or an empty text for none.'),
  status: describe(optional(CourseworkStatus), 'Whether members see the item; `hidden` unless you set it.'),
  completion_criteria: describe(
    optional(CompletionCriteria),
    'What a member must do to complete the item; `none` unless you set it.',
  ),
  unlocking_criteria: describe(
    optional(UnlockingCriteria),
    'What must happen before a member may open the item; `none` unless you set it.',
  ),
}

const CourseworkCreate = request('CourseworkRequest', {
  type: describe(
    oneOf('lesson', 'quiz', 'section'),
    'The kind of item. It cannot change afterwards; only sections hold other items.',
  ),
  ...changeable,
  status: byDefault(changeable.status, 'hidden'),
  completion_criteria: byDefault(changeable.completion_criteria, 'none'),
  unlocking_criteria: byDefault(changeable.unlocking_criteria, 'none'),
})

const CourseworkUpdate = request('CourseworkUpdateRequest', changeable)

const lesson = { title: 'Compost', status: 'posted', completion_criteria: 'visited', unlocking_criteria: 'none' } as const

export const listCourseworks = operation({
  id: 'courseworks.list',
  method: 'GET',
  path: '/spaces/:space_id/courseworks',
  scope: 'courseworks:read',
  summary: 'List the course items of a space.',
  description:
    "All items of the space's course, the overview and hidden items too. Build the tree from `parent_id` and `position`.",
  query: {
    type: describe(optional(CourseworkType), 'Only items of this kind.'),
    parent_id: describe(optional(IdInput), 'Only items directly below this section or overview.'),
    status: describe(optional(CourseworkStatus), 'Only items with this status.'),
  },
  returns: paged(Coursework),
  errors: [notFound('Space')],
  async handle(call) {
    const { id } = await spaceOf(call, call.params.space_id)
    const { type, parent_id, status } = call.query
    const where = {
      space_id: id,
      ...(type === undefined ? {} : { type }),
      ...(parent_id === undefined ? {} : { parent_id }),
      ...(status === undefined ? {} : { status }),
    }
    return call.page(courseworks, { where }, (rows) => presentAll(call, rows))
  },
})

export const createCoursework = operation({
  id: 'courseworks.create',
  method: 'POST',
  path: '/spaces/:space_id/courseworks',
  scope: 'courseworks:write',
  summary: "Create a section, lesson or quiz; under the course's overview by default.",
  description:
    'The first item of a space also makes the overview of its course. It comes last among its siblings. Sections nest up to ten levels deep.',
  status: 201,
  body: CourseworkCreate,
  example: { ...lesson, type: 'lesson', parent_id: '254803968000' },
  returns: Coursework,
  errors: [notFound('Space'), notFound('Parent'), invalid('type', 'parent_id')],
  async handle(call) {
    const { tx } = call
    const {
      parent_id,
      title = '',
      status = 'hidden',
      completion_criteria = 'none',
      unlocking_criteria = 'none',
      ...rest
    } = call.body
    const space = await spaceOf(call, call.params.space_id)
    if (rest.type === 'section') await lockSpace(tx, space)
    const parent =
      parent_id === undefined ? await overviewOf(call, space) : found(await itemOf(call, space.id, parent_id), 'Parent')
    checkParent(rest.type, parent)
    if (rest.type === 'section') checkDepth((await sectionsAbove(call, parent)).length + 1)
    const item = await tx.insert(courseworks, {
      ...call.stamp(),
      ...rest,
      space_id: space.id,
      parent_id: parent.id,
      title,
      status,
      completion_criteria,
      unlocking_criteria,
      position: await lastPosition(call, parent),
    })
    return presentCoursework(call, item, parent)
  },
})

export const showCoursework = operation({
  id: 'courseworks.show',
  method: 'GET',
  path: '/spaces/:space_id/courseworks/:id/',
  scope: 'courseworks:read',
  summary: 'Show a course item.',
  description: 'An item of another space is a 404.',
  returns: Coursework,
  errors: [notFound('Space'), notFound('Coursework')],
  async handle(call) {
    const { item } = await addressed(call, call.params)
    return presentOne(call, item)
  },
})

export const updateCoursework = operation({
  id: 'courseworks.update',
  method: 'PATCH',
  path: '/spaces/:space_id/courseworks/:id/',
  also: { id: 'courseworks.replace', method: 'PUT' },
  scope: 'courseworks:write',
  summary: 'Change a course item, or move it to the end of another parent.',
  description:
    'Only the fields that you send change; the `type` stays. An item that moves takes along everything below it, and its former siblings close the gap.',
  body: CourseworkUpdate,
  example: lesson,
  returns: Coursework,
  errors: [notFound('Space'), notFound('Coursework'), invalid('parent_id')],
  async handle(call) {
    const { space, item } = await addressed(call, call.params)
    const { parent_id, ...changes } = call.body
    if (parent_id !== undefined && parent_id !== item.parent_id) await move(call, space, item, parent_id)
    return presentOne(call, found(await call.tx.update(courseworks, item.id, { ...changes, ...call.touch() }), 'Coursework'))
  },
})

export const deleteCoursework = operation({
  id: 'courseworks.delete',
  method: 'DELETE',
  path: '/spaces/:space_id/courseworks/:id/',
  scope: 'courseworks:write',
  summary: 'Delete a course item with everything under it.',
  description:
    'The items behind it move up by one position. No event is sent, and what members have completed stays with the host.',
  errors: [notFound('Space'), notFound('Coursework')],
  async handle(call) {
    const { item } = await addressed(call, call.params)
    // Counted first: a concurrent move among the same siblings now waits or runs again.
    if (item.parent_id) await call.tx.increment(courseworks, item.parent_id, { children_count: -1 })
    const { position, parent_id } = found(await call.tx.get(courseworks, item.id), 'Coursework')
    orConflict(parent_id === item.parent_id ? item : undefined, `courseworks ${item.id}`)
    await removeWithDependents(call.tx, courseworks, item.id)
    if (item.parent_id) await closeGap(call.tx, courseworks, { parent_id: item.parent_id }, position)
  },
})

const spaceOf = async ({ tx }: Pick<Context, 'tx'>, id: Id): Promise<SpaceRow> => found(await tx.get(spaces, id), 'Space')

async function addressed(context: Pick<Context, 'tx'>, { space_id, id }: { space_id: Id; id: Id }) {
  const space = await spaceOf(context, space_id)
  return { space, item: found(await itemOf(context, space.id, id), 'Coursework') }
}

async function presentOne(context: Context, row: CourseworkRow): Promise<CourseworkRecord> {
  return presentCoursework(context, row, row.parent_id ? await context.tx.get(courseworks, row.parent_id) : undefined)
}

async function presentAll(context: Context, rows: readonly CourseworkRow[]): Promise<CourseworkRecord[]> {
  const parents = await rowsNamed(context.tx, courseworks, 'parent_id', rows)
  return rows.map((row) => presentCoursework(context, row, parents.get(row.parent_id ?? '')))
}
