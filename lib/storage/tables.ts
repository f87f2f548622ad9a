/**
 * The data model: every table, in the order in which adapters make them. Resource files meet in these tables instead of
 * importing each other. Names are those of the wire.
 */
import { apiKeys, audit, idempotencyKeys, networks, webhookEndpoints } from './tables/administration.ts'
import { abuseReports, assets, comments, courseworks, mutes, posts, reactions } from './tables/content.ts'
import { answers, customFields, memberSegments, segments } from './tables/custom-fields.ts'
import { canceledInstances, events, rsvps } from './tables/events.ts'
import { collections, memberHistory, members, spaceMemberships, spaces } from './tables/members.ts'
import { invites, planMemberships, planSpaces, plans, purchases, subscriptions } from './tables/plans.ts'

/** Every table of the API, parents before their children: what an adapter creates. */
export const tables = [
  networks,
  apiKeys,
  webhookEndpoints,
  audit,
  idempotencyKeys,
  members,
  memberHistory,
  collections,
  spaces,
  spaceMemberships,
  customFields,
  segments,
  memberSegments,
  answers,
  posts,
  comments,
  reactions,
  mutes,
  courseworks,
  events,
  rsvps,
  canceledInstances,
  assets,
  plans,
  planSpaces,
  planMemberships,
  subscriptions,
  purchases,
  invites,
  abuseReports,
] as const
