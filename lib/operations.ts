/** The registry: every resource file, one array. */
import type { AnyOperation, Method, Operation } from './operation.ts'
import * as abuseReports from './resources/abuse-reports.ts'
import * as answers from './resources/answers.ts'
import * as assets from './resources/assets.ts'
import * as badges from './resources/badges.ts'
import * as collections from './resources/collections.ts'
import * as comments from './resources/comments.ts'
import * as courseworks from './resources/courseworks.ts'
import * as customFields from './resources/custom-fields.ts'
import * as events from './resources/events.ts'
import * as invites from './resources/invites.ts'
import * as me from './resources/me.ts'
import * as memberBadges from './resources/member-badges.ts'
import * as memberTags from './resources/member-tags.ts'
import * as members from './resources/members.ts'
import * as mute from './resources/mute.ts'
import * as networks from './resources/networks.ts'
import * as options from './resources/options.ts'
import * as passwordResets from './resources/password-resets.ts'
import * as planInvites from './resources/plan-invites.ts'
import * as planMembers from './resources/plan-members.ts'
import * as plans from './resources/plans.ts'
import * as polls from './resources/polls.ts'
import * as posts from './resources/posts.ts'
import * as purchases from './resources/purchases.ts'
import * as reactions from './resources/reactions.ts'
import * as rsvps from './resources/rsvps.ts'
import * as spaceMembers from './resources/space-members.ts'
import * as spaces from './resources/spaces.ts'
import * as subscriptions from './resources/subscriptions.ts'
import * as tags from './resources/tags.ts'

const resources = {
  ...networks,
  ...me,
  ...members,
  ...spaceMembers,
  ...passwordResets,
  ...spaces,
  ...collections,
  ...courseworks,
  ...posts,
  ...polls,
  ...comments,
  ...reactions,
  ...mute,
  ...events,
  ...rsvps,
  ...customFields,
  ...options,
  ...answers,
  ...assets,
  ...tags,
  ...memberTags,
  ...badges,
  ...memberBadges,
  ...plans,
  ...planMembers,
  ...planInvites,
  ...invites,
  ...subscriptions,
  ...purchases,
  ...abuseReports,
}

const methods: readonly Method[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']

// Runtimes and bundlers list what a module exports in different orders, and the documents are to be the same everywhere.
const byPath = (a: AnyOperation, b: AnyOperation): number =>
  a.path === b.path ? methods.indexOf(a.method) - methods.indexOf(b.method) : a.path < b.path ? -1 : 1

/** Every operation of the API, by path and method. */
export const operations: readonly AnyOperation[] = Object.freeze(Object.values<AnyOperation>(resources).sort(byPath))

type Resources = typeof resources
type ById = {
  [Key in keyof Resources as Resources[Key] extends Operation<infer Name, unknown, unknown, unknown, infer Also>
    ? Name | Extract<Also, string>
    : never]: Resources[Key]
}
/** The id of an operation, such as `members.update`, or of its second method, such as `members.replace`. */
export type OperationId = keyof ById
/** The id that an operation itself has, whichever method a request uses. */
export type OwnOperationId = Resources[keyof Resources]['id']
/** The argument of a direct call of an operation. */
export type OperationInput<Name extends OperationId> = ById[Name] extends Operation<string, infer Input, unknown> ? Input : never
/** The result of a direct call of an operation. */
export type OperationResult<Name extends OperationId> =
  ById[Name] extends Operation<string, unknown, infer Result> ? Result : never
/** A request's body as a handler, or a hook, is given it; `undefined` where the operation takes none. */
export type OperationBody<Name extends OperationId> =
  ById[Name] extends Operation<string, unknown, unknown, infer Body> ? Body : never
