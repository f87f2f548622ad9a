/** The items of courses, and the overviews above them. */
import { rowsOf } from '../../../../../lib/storage/rows-of.ts'
import { type CourseworkRow, courseworks } from '../../../../../lib/storage/tables/content.ts'
import { spaces } from '../../../../../lib/storage/tables/members.ts'
import { textOf } from '../../given.ts'
import { given, type Push, type PushStage, pushStage } from '../push-stage.ts'

/** Items in the order of their course: what holds others comes before them. */
async function* inCourseOrder({ reads }: Push): AsyncGenerator<CourseworkRow, void, undefined> {
  for await (const { id: space_id } of rowsOf(reads, spaces, {})) {
    const items = await reads.find(courseworks, { where: { space_id } })
    const below = new Map<string | null, CourseworkRow[]>()
    for (const item of items.sort((a, b) => a.position - b.position)) {
      const siblings = below.get(item.parent_id) ?? []
      siblings.push(item)
      below.set(item.parent_id, siblings)
    }
    const waiting = [...(below.get(null) ?? [])]
    for (let item = waiting.shift(); item; item = waiting.shift()) {
      waiting.unshift(...(below.get(item.id) ?? []))
      if (item.type !== 'overview') yield item
    }
  }
}

const overviewOf = async (space_id: string, { reads }: Push): Promise<CourseworkRow | undefined> =>
  (await reads.find(courseworks, { where: { space_id, type: 'overview' }, limit: 1 }))[0]

/** The parent there. The server makes the overview with the first item under it, so that one has no parent yet. */
async function parentOf({ space_id, parent_id }: CourseworkRow, push: Push): Promise<{ readonly parent_id?: string }> {
  const there = push.thereIf('courseworks', parent_id ?? '')
  if (there !== undefined) return { parent_id: there }
  return parent_id === null || parent_id === (await overviewOf(space_id, push))?.id
    ? {}
    : { parent_id: push.there('courseworks', parent_id) }
}

const settings = ({ title, description, status, completion_criteria, unlocking_criteria }: CourseworkRow) => ({
  title,
  description,
  status,
  completion_criteria,
  unlocking_criteria,
})

const allCourseworks = pushStage({
  name: 'courseworks',
  group: 'courseworks',
  table: courseworks,
  rows: inCourseOrder,
  create: 'courseworks.create',
  update: 'courseworks.update',
  params: ({ space_id }, push) => ({ space_id: push.there('spaces', space_id) }),
  body: async (row, push) => given({ type: row.type, ...(await parentOf(row, push)), ...settings(row) }),
  changes: async (row, push) => ({ ...(await parentOf(row, push)), ...settings(row) }),
  async related(row, { parent_id }, push) {
    const overview = await overviewOf(row.space_id, push)
    const isFirst = overview && overview.id === row.parent_id && push.thereIf('courseworks', overview.id) === undefined
    return isFirst && textOf(parent_id) !== '' ? [['courseworks', overview.id, textOf(parent_id)]] : []
  },
  follows: ['space_id', 'position', 'children_count'],
})

const overviews = pushStage({
  name: 'overviews of courses',
  group: 'courseworks',
  table: courseworks,
  where: { type: 'overview' },
  missing: 'the server makes an overview with the first item under it, and there is none',
  update: 'courseworks.update',
  params: ({ space_id }, push) => ({ space_id: push.there('spaces', space_id) }),
  changes: settings,
})

/** In the order of dependence. */
export const courses: readonly PushStage[] = [allCourseworks, overviews]
