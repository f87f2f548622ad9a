/** A network at a glance: counted when it is called for, each number up to a bound. */
import { isoTime } from '../base/clock.ts'
import type { Settings } from '../settings.ts'
import type { Conditions } from '../storage/contract.ts'
import type { Id, Row, Table } from '../storage/table.ts'
import { abuseReports, comments, posts } from '../storage/tables/content.ts'
import { members } from '../storage/tables/members.ts'
import { planMemberships, plans } from '../storage/tables/plans.ts'
import type { Changes } from './audit/changes.ts'
import type { Networks } from './networks.ts'

/** A network at a glance. Each number is counted up to 100,000. */
export interface Overview {
  readonly members: {
    /** Those who are there now. */
    readonly now: number
    /** Those of them who were there thirty days ago, and those who have left since. */
    readonly thirty_days_ago: number
    /** Members who joined, and who left, in the last thirty days. A person who came back counts as of their first day. */
    readonly joined: number
    readonly left: number
    /** Members who have visited in the last 7 and 30 days, as the host reports visits. */
    readonly active_7_days: number
    readonly active_30_days: number
  }
  /** Of the last thirty days. */
  readonly posts: number
  readonly comments: number
  /** Members of each plan, the largest first; at most twenty plans. */
  readonly plans: readonly { readonly id: Id; readonly name: string; readonly members: number }[]
  /** Open reports of abuse. */
  readonly open_reports: number
}

/**
 * A network at a glance.
 * @throws ApiError 404 when there is no such network
 */
export type OverviewOf = (network: Id | number) => Promise<Overview>

/** A number that is this high may be higher. */
export const mostCounted = 100_000
const mostPlans = 20
const dayMs = 24 * 60 * 60 * 1000

export const overviewOf =
  ({ clock }: Settings, changes: Changes, networks: Networks): OverviewOf =>
  async (name) => {
    const from = (days: number) => ({ from: isoTime(clock.now() - days * dayMs) })
    return changes.read((await networks.show(name)).id, async (tx) => {
      const count = <R extends Row, N>(table: Table<R, N>, query: Conditions<R>) =>
        tx.count(table, { ...query, limit: mostCounted })
      const state = 'active'
      const gone = ['removed', 'banned', 'deleted'] as const
      const created_at = from(30)
      const now = await count(members, { where: { state } })
      const joined = await count(members, { ranges: { created_at } })
      const joinedAndThere = await count(members, { where: { state }, ranges: { created_at } })
      const left = await count(members, { where: { state: gone }, ranges: { left_at: from(30) } })
      const leftOfEarlier = await count(members, {
        where: { state: gone },
        ranges: { left_at: from(30), created_at: { before: created_at.from } },
      })
      const byPlan = await Promise.all(
        (await tx.find(plans, { limit: 200 })).map(async ({ id, name: plan }) => ({
          ...{ id, name: plan },
          members: await count(planMemberships, { where: { plan_id: id } }),
        })),
      )
      return {
        members: {
          ...{ now, joined, left },
          thirty_days_ago: now - joinedAndThere + leftOfEarlier,
          active_7_days: await count(members, { where: { state }, ranges: { last_visited_at: from(7) } }),
          active_30_days: await count(members, { where: { state }, ranges: { last_visited_at: from(30) } }),
        },
        posts: await count(posts, { ranges: { created_at } }),
        comments: await count(comments, { ranges: { created_at } }),
        plans: byPlan.toSorted((one, other) => other.members - one.members).slice(0, mostPlans),
        open_reports: await count(abuseReports, { where: { ignored_at: null } }),
      }
    })
  }
