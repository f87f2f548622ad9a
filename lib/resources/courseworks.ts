import type { Context } from '../context.ts'
import { found, invalid, notFound } from '../errors.ts'
import { IdInput, LongText, oneOf, optional, optionalOrNull, paged, request, ShortText } from '../fields.ts'
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
import type { Id } from '../storage/table.ts'
import { type CourseworkRow, courseworks } from '../storage/tables/content.ts'
import { type SpaceRow, spaces } from '../storage/tables/members.ts'

const changeable = {
  parent_id: optional(IdInput),
  title: optional(ShortText),
  description: optionalOrNull(LongText),
  status: optional(CourseworkStatus),
  completion_criteria: optional(CompletionCriteria),
  unlocking_criteria: optional(UnlockingCriteria),
}

const CourseworkCreate = request('CourseworkRequest', { type: oneOf('lesson', 'quiz', 'section'), ...changeable })

const CourseworkUpdate = request('CourseworkUpdateRequest', changeable)

export const listCourseworks = operation({
  id: 'courseworks.list',
  method: 'GET',
  path: '/spaces/:space_id/courseworks',
  scope: 'courseworks:read',
  summary: 'List the course items of a space.',
  query: { type: optional(CourseworkType), parent_id: optional(IdInput), status: optional(CourseworkStatus) },
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
  status: 201,
  body: CourseworkCreate,
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
  body: CourseworkUpdate,
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
  const ids = new Set(rows.flatMap(({ parent_id }) => parent_id ?? []))
  const parents = await context.tx.find(courseworks, { where: { id: [...ids] } })
  const parentOf = new Map(parents.map((parent) => [parent.id, parent]))
  return rows.map((row) => presentCoursework(context, row, row.parent_id ? parentOf.get(row.parent_id) : undefined))
}
