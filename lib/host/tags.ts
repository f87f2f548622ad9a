/** What admins do with tags beyond the operations: make some of them in their name, and merge two. */
import { fail, found, invalid } from '../errors.ts'
import { BoolInput, Colour, integerBetween, LongText, oneOf, optional, optionalOrNull, Title } from '../fields.ts'
import { presentMember } from '../records/member.ts'
import { giveSegment, lockSegment, segmentOf, takeSegment } from '../rules/segments.ts'
import type { Settings } from '../settings.ts'
import { removeWithDependents } from '../storage/cascade.ts'
import type { Id } from '../storage/table.ts'
import { memberSegments, type SegmentRow, segments } from '../storage/tables/custom-fields.ts'
import { members } from '../storage/tables/members.ts'
import { checkArgument, idOf, PlaceInput, shape } from './arguments.ts'
import type { Changes } from './audit/changes.ts'
import type { AnyDirectCall } from './direct-calls.ts'
import type { Networks } from './networks.ts'

/** A tag or badge with the number of members who carry it. */
export interface TagListing extends Pick<SegmentRow, 'id' | 'title' | 'description' | 'color' | 'member_count' | 'created_at'> {
  readonly kind: 'tag' | 'badge'
}

/** Tags or badges to be listed. */
export interface TagQuery {
  /** `tag` by default. */
  readonly kind?: 'tag' | 'badge'
  /** Only those that no member carries. */
  readonly unused?: boolean
  /** At most so many, from 1 to 1,000: 100 by default. */
  readonly limit?: number
  /** The `next` of the page before. */
  readonly after?: Id | undefined
}

/** A tag to be made. */
export interface NewTag {
  /** No other tag of the network may have it, whatever its case. */
  readonly title: string
  readonly description?: string | null
  /** As `#RRGGBB`. */
  readonly color?: string | null
}

/** The result of a merge. */
export interface MergedTags {
  /** The tag that is left. */
  readonly id: Id
  readonly title: string
  /** Members who carry it now. */
  readonly member_count: number
  /** Members who carried the other tag. */
  readonly moved: number
}

/** The calls about tags for which the interface has no operation, or which the audit is to name. A network is named by its id or its subdomain. */
export interface Tags {
  /**
   * A page of tags or badges with their counts, in the order of their creation.
   * @throws ApiError 404 when there is no such network, 422 when a value is refused
   */
  list(network: Id | number, query?: TagQuery): Promise<{ readonly items: readonly TagListing[]; readonly next: Id | null }>
  /**
   * Makes a tag by the operation `tags.create`, with a line in the audit.
   * @throws ApiError 404 when there is no such network, 422 when the title is taken or a value is refused
   */
  create(network: Id | number, tag: NewTag): Promise<TagListing>
  /**
   * Gives every holder of one tag another one, and deletes the first. `MemberTagAdded` and `MemberTagRemoved` are sent for each of
   * them. It goes some members at a time: a merge that breaks off is finished by repeating it.
   * @param onProgress gets the number of members so far
   * @throws ApiError 404 when there is no such tag, 422 when both are the same
   */
  merge(network: Id | number, from: Id | number, into: Id | number, onProgress?: (moved: number) => void): Promise<MergedTags>
}

/** Members of one transaction. */
const batch = 50

const Query = shape({
  kind: optional(oneOf('tag', 'badge')),
  unused: optional(BoolInput),
  limit: optional(integerBetween(1, 1000)),
  after: optional(PlaceInput),
})

const Body = shape({ title: Title, description: optionalOrNull(LongText), color: optionalOrNull(Colour) })

const listingOf = ({ id, title, description, color, member_count, created_at }: SegmentRow, kind: TagListing['kind']) => ({
  ...{ id, kind, title, description, color, member_count, created_at },
})

/** @param call runs an operation, as `community.call` does */
export function tagsOf({ limits }: Settings, changes: Changes, networks: Networks, call: AnyDirectCall): Tags {
  return {
    async list(name, given = {}) {
      const { kind = 'tag', unused = false, limit = 100, after } = checkArgument('tags.list', Query, given, limits)
      const where = { kind, ...(unused ? { member_count: 0 } : {}) } as const
      const rows = await changes.read((await networks.show(name)).id, (tx) =>
        tx.find(segments, { where, limit: limit + 1, ...(after === undefined ? {} : { after }) }),
      )
      const items = rows.slice(0, limit).map((row) => listingOf(row, kind))
      return { items, next: rows.length > limit ? (items.at(-1)?.id ?? null) : null }
    },
    async create(name, given) {
      const body = checkArgument('tags.create', Body, given, limits)
      const network = await networks.show(name)
      const { id } = (await call('tags.create', { network: network.id, body })) as { readonly id: Id | number }
      return changes.act(network, async (by) => {
        const tag = listingOf(await segmentOf(by, 'tag', String(id)), 'tag')
        const subject = { type: 'tag', id: tag.id, name: tag.title } as const
        return { result: tag, audit: [{ action: 'tag.created', subject, details: { color: tag.color } }] }
      })
    },
    async merge(name, givenFrom, givenInto, onProgress) {
      const [from, into] = [idOf(givenFrom), idOf(givenInto)]
      if (from === into) fail(invalid('into'), 'into must be another tag')
      const network = await networks.show(name)
      let moved = 0
      // Once through them, or a merge in the other direction would give them back without end.
      let after: Id | undefined = '0'
      while (after !== undefined) {
        const begin: Id = after
        const { count, last } = await changes.act(network, async (call) => {
          const order = { by: 'member_id', direction: 'asc' } as const
          const holders = await call.tx.find(memberSegments, { where: { segment_id: from }, order, after: begin, limit: batch })
          const locked = []
          for (const { member_id } of holders) locked.push(await call.tx.lock(members, member_id, 'update'))
          const [old, tag] = [await segmentOf(call, 'tag', from), await segmentOf(call, 'tag', into)]
          let count = 0
          for (const row of locked) {
            // Meanwhile they may have left, or lost the tag.
            if (row?.state !== 'active' || !(await takeSegment(call, row.id, from))) continue
            count++
            const event = { member: presentMember(call, row), network_id: network.id }
            if (await giveSegment(call, row.id, tag)) call.emit('MemberTagAdded', { ...event, tag })
            call.emit('MemberTagRemoved', { ...event, tag: old })
          }
          return { result: { count, last: holders[batch - 1]?.member_id }, audit: [] }
        })
        moved += count
        onProgress?.(moved)
        after = last
      }
      return changes.act(network, async (call) => {
        const old = await lockSegment(call, 'tag', from)
        // A member who got it in between keeps nothing but the other one.
        if (await call.tx.first(memberSegments, { segment_id: from }))
          fail(invalid('into'), 'into: members got the other tag meanwhile. Repeat the merge')
        // Locked, so that a merge in the other direction doesn't delete it at the same time.
        const tag = await lockSegment(call, 'tag', into)
        found(await removeWithDependents(call.tx, segments, from), 'Tag')
        const { id, title, member_count } = tag
        const subject = { type: 'tag', id, name: title } as const
        const details = { merged: { id: from, title: old.title }, moved }
        return { result: { id, title, member_count, moved }, audit: [{ action: 'tag.merged', subject, details }] }
      })
    },
  }
}
