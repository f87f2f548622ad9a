/** The tree of a course: the overview at its root, sections, and the items under them. */
import { compareIds } from '../base/ids.ts'
import type { Context } from '../context.ts'
import { fail, invalid } from '../errors.ts'
import { orConflict } from '../storage/lock.ts'
import type { ScopedTx } from '../storage/scoped.ts'
import type { Id } from '../storage/table.ts'
import { type CourseworkRow, courseworks } from '../storage/tables/content.ts'
import { type SpaceRow, spaces } from '../storage/tables/members.ts'
import { closeGap } from './positions.ts'

/** The maximum depth of sections. */
const maxLevels = 10

/** Sections of one space move one at a time. */
export const lockSpace = async (tx: ScopedTx, { id }: SpaceRow): Promise<SpaceRow> =>
  orConflict(await tx.lock(spaces, id, 'update'), `spaces ${id}`)

export async function itemOf({ tx }: Pick<Context, 'tx'>, space_id: Id, id: Id): Promise<CourseworkRow | undefined> {
  const item = await tx.get(courseworks, id)
  return item?.space_id === space_id ? item : undefined
}

/** The overview of a space's course: the root of its tree, made when the first item needs it. */
export async function overviewOf({ tx, stamp }: Pick<Context, 'tx' | 'stamp'>, space: SpaceRow): Promise<CourseworkRow> {
  const key = { space_id: space.id, type: 'overview' } as const
  const overview = await tx.first(courseworks, key)
  if (overview) return overview
  await lockSpace(tx, space)
  const madeMeanwhile = await tx.first(courseworks, key)
  return (
    madeMeanwhile ??
    tx.insert(courseworks, {
      ...stamp(),
      ...key,
      title: space.name,
      status: 'posted',
      position: 1,
      completion_criteria: 'none',
      unlocking_criteria: 'none',
    })
  )
}

/**
 * The valid parents: everything is under the overview or a section.
 * @throws ApiError 422
 */
export function checkParent(type: CourseworkRow['type'], parent: CourseworkRow): void {
  if (type === 'overview') fail(invalid('parent_id'), 'parent_id: the overview cannot be moved')
  if (parent.type === 'lesson' || parent.type === 'quiz')
    fail(invalid('parent_id'), `parent_id must name a section or the overview, not a ${parent.type}`)
}

/** @throws ApiError 422 */
export function checkDepth(levels: number): void {
  if (levels > maxLevels) fail(invalid('parent_id'), `parent_id: sections nest at most ${maxLevels} levels deep`)
}

/** A section and the sections that hold it, nearest first; none for the overview. */
export async function sectionsAbove(context: Pick<Context, 'tx'>, from: CourseworkRow): Promise<CourseworkRow[]> {
  const above: CourseworkRow[] = []
  for (let item: CourseworkRow | undefined = from; item?.type === 'section'; ) {
    above.push(item)
    item = item.parent_id === null ? undefined : await context.tx.get(courseworks, item.parent_id)
  }
  return above
}

/** How many levels of sections an item comes to, itself included. */
async function levelsOf({ tx }: Pick<Context, 'tx'>, item: CourseworkRow): Promise<number> {
  let levels = 0
  for (let level = item.type === 'section' ? [item] : []; level.length > 0; levels++) {
    const where = { parent_id: level.map(({ id }) => id), type: 'section' } as const
    level = await tx.find(courseworks, { where })
  }
  return levels
}

/**
 * Refuses a section that would come to stand under itself, or too deep. The space is locked, so that of two sections that move
 * into each other the second one sees the first.
 * @throws ApiError 422
 */
async function checkPosition(context: Pick<Context, 'tx'>, item: CourseworkRow, parent: CourseworkRow): Promise<void> {
  const above = await sectionsAbove(context, parent)
  if (above.some(({ id }) => id === item.id))
    fail(invalid('parent_id'), 'parent_id must not name the section itself or anything under it')
  checkDepth(above.length + (await levelsOf(context, item)))
}

/** Counts one child more; its position is the last. */
export async function lastPosition({ tx }: Pick<Context, 'tx'>, parent: CourseworkRow): Promise<number> {
  const counted = await tx.increment(courseworks, parent.id, { children_count: 1 })
  return orConflict(counted, `courseworks ${parent.id}`).children_count
}

/** Moves an item to the end of another parent; its old siblings close the gap. */
export async function move(
  context: Pick<Context, 'tx' | 'touch'>,
  space: SpaceRow,
  item: CourseworkRow,
  parent_id: Id,
): Promise<void> {
  const { tx } = context
  if (item.type === 'section') await lockSpace(tx, space)
  const parent =
    (await itemOf(context, space.id, parent_id)) ?? fail(invalid('parent_id'), 'parent_id: there is no such item in this space')
  checkParent(item.type, parent)
  if (item.type === 'section') await checkPosition(context, item, parent)
  // Both parents in one order: another item may be moving the other way.
  for (const id of [parent.id, item.parent_id ?? parent.id].sort(compareIds)) await tx.lock(courseworks, id, 'update')
  // Siblings may have moved before they were locked.
  const { position: left } = orConflict(await tx.get(courseworks, item.id), `courseworks ${item.id}`)
  const position = await lastPosition(context, parent)
  if (item.parent_id) await tx.increment(courseworks, item.parent_id, { children_count: -1 })
  const stillThere = { parent_id: item.parent_id, position: left }
  orConflict(
    await tx.update(courseworks, item.id, { parent_id: parent.id, position, ...context.touch() }, stillThere),
    `courseworks ${item.id}`,
  )
  if (item.parent_id) await closeGap(tx, courseworks, { parent_id: item.parent_id }, left)
}
