/**
 * An example request for every operation, against the seeded network. Its schemas are filled in from a table of values by
 * field name. A few requests are chosen by hand, where the schema alone does not show which values make sense.
 */

import type { Community } from '../../lib/index.ts'
import { type Route, routesOf } from '../../lib/operation.ts'
import { at, type JsonSchema, resolve } from './json-schema.ts'
import { downloadable } from './ports.ts'
import { seeded } from './seed.ts'

/** The parts of a request for an operation, beside its token. */
export interface Example {
  readonly route: Route
  readonly params: Readonly<Record<string, string>>
  readonly query: Readonly<Record<string, string>>
  /** `undefined` where the operation takes no body. */
  readonly body: Readonly<Record<string, unknown>> | undefined
}

/** A seeded record for an id in a path, by the segment before it. */
const idBehind: Readonly<Record<string, string>> = {
  members: seeded.member,
  spaces: seeded.space,
  collections: seeded.collection,
  tags: seeded.tag,
  badges: seeded.badge,
  custom_fields: seeded.dropdown,
  options: seeded.option,
  answers: seeded.answer,
  posts: seeded.post,
  polls: seeded.poll,
  events: seeded.event,
  rsvps: '431',
  comments: seeded.comment,
  courseworks: seeded.lesson,
  plans: seeded.plan,
  invites: seeded.invite,
  subscriptions: seeded.subscription,
  purchases: seeded.purchase,
  abuse_reports: seeded.abuseReport,
}

/** A sensible value for a field of a body or a query, by its name. */
const valueByName: Readonly<Record<string, unknown>> = {
  title: 'Spring in the garden',
  name: 'Green house',
  description: 'What there is to do.',
  text: 'Well said!',
  message: 'Come and join us.',
  emoji: '🌱',
  color: '#FF5733',
  email: 'new.member@example.org',
  first_name: 'Margaret',
  last_name: 'Hamilton',
  role: 'moderator',
  member_type: 'full',
  space_ids: [seeded.space],
  send_welcome_email: true,
  notify: true,
  space_id: seeded.space,
  user_id: seeded.loner,
  member_id: seeded.loner,
  collection_id: seeded.emptyCollection,
  tag_id: seeded.spareTag,
  badge_id: seeded.spareBadge,
  avatar_id: seeded.asset,
  reply_to_id: seeded.otherComment,
  parent_id: seeded.section,
  choices: ['Carrots', 'Peas'],
  ban_reason: 'Would not stop selling shoes.',
  recipient_email: 'guest@example.org',
  recipient_first_name: 'Katherine',
  recipient_last_name: 'Johnson',
  status: 'yes',
  visible_to_members: true,
}

type Chosen = Partial<Record<'params' | 'query', Readonly<Record<string, string>>>> & {
  readonly body?: Readonly<Record<string, unknown>>
}

const motto = { custom_field_id: seeded.textField }

/** Requests chosen by hand, by operation: the given parts replace those of the declarations. */
const chosen: Readonly<Record<string, Chosen>> = {
  'members.by_email': { query: { email: seeded.memberEmail } },
  'space_members.delete': { params: { user_id: seeded.limited } },
  'space_members.ban': { params: { user_id: seeded.limited } },
  'plan_members.create': { params: { plan_id: seeded.sparePlan }, query: { user_id: seeded.loner } },
  'plan_invites.show': { params: { id: seeded.planInvite } },
  'plan_invites.resend_patch': { params: { id: seeded.planInvite } },
  'plan_invites.resend_put': { params: { id: seeded.planInvite } },
  'plan_invites.delete': { params: { id: seeded.planInvite } },
  'plan_invites.create': { query: { email: 'guest@example.org', message: 'Come and join us.' } },
  'plans.archive': { params: { id: seeded.sparePlan } },
  'plans.remove_member': { params: { plan_id: seeded.sparePlan, id: '102' } },
  'spaces.delete': { params: { id: seeded.emptySpace } },
  'collections.delete': { params: { id: seeded.emptyCollection } },
  'post_reactions.create': { params: { post_id: seeded.otherPost } },
  'comment_reactions.create': { params: { comment_id: seeded.otherComment } },
  'mute.delete': { query: { user_id: seeded.member } },
  'rsvps.replace': { body: { member_id: seeded.member, status: 'no' } },
  'assets.create': { body: { asset_style: 'cover', source_url: downloadable, metadata: { is_main_image: true } } },
  'answers.list': { params: motto },
  'answers.upsert': { params: motto },
  'answers.delete': { params: motto },
  'answers.show': { params: { ...motto, id: '362' } },
}

/** An example of every route of a community: each operation under each of its methods. */
export function examplesOf(community: Community): Example[] {
  const document = community.openapi()
  return routesOf(community.operations).map((route) => exampleOf(route, document))
}

function exampleOf(route: Route, document: Readonly<Record<string, unknown>>): Example {
  const given = chosen[route.id] ?? {}
  const { example } = route.operation
  const { params, query, body } = requestSchemas(document, route)
  return {
    route,
    params: { ...Object.fromEntries(params.map((name) => [name, idFor(route.operation.path, name)])), ...given.params },
    query: given.query ?? requiredQuery(document, query),
    body: body && (given.body ?? (example ? withSeeded(example) : (valueFor(document, body) as Record<string, unknown>))),
  }
}

/** The same example with ids of records that there are. */
const withSeeded = (example: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(example).map(([name, value]) => [name, /_ids?$/.test(name) ? valueByName[name] : value]))

/** The document's entry for a path, whatever it calls the parameters. */
export function publishedPath(document: Readonly<Record<string, unknown>>, path: string): JsonSchema {
  const shape = `/admin/v1/networks/{}${path.replace(/:\w+/g, '{}')}`
  const name = Object.keys(at(document, 'paths')).find((name) => name.replace(/\{\w+\}/g, '{}') === shape)
  return at(document, 'paths', name ?? path)
}

/** The document's entry for a route's request. */
export function requestSchemas(document: Readonly<Record<string, unknown>>, { operation, method }: Route) {
  const described = at(publishedPath(document, operation.path), method.toLowerCase())
  const parameters = ((described['parameters'] ?? []) as JsonSchema[]).filter((parameter) => parameter['in'] === 'query')
  // The server takes JSON in place of a form too.
  const [media] = Object.values(at(described, 'requestBody', 'content'))
  const content = at(media, 'schema')
  return {
    described,
    params: [...operation.path.matchAll(/:(\w+)/g)].map((match) => match[1] ?? ''),
    query: parameters,
    body: Object.keys(content).length > 0 ? resolve(document, content) : undefined,
  }
}

const idFor = (path: string, name: string): string => {
  const before = path.split('/').at(path.split('/').indexOf(`:${name}`) - 1) ?? ''
  const id = idBehind[before]
  if (!id) throw new Error(`no seeded record is known for :${name} of ${path}`)
  return id
}

const requiredQuery = (document: Readonly<Record<string, unknown>>, parameters: readonly JsonSchema[]) =>
  Object.fromEntries(
    parameters
      .filter((parameter) => parameter['required'] === true)
      .map((parameter) => {
        const name = String(parameter['name'])
        return [name, String(valueByName[name] ?? valueFor(document, parameter['schema'] as JsonSchema))]
      }),
  )

/** A value that a schema allows: every field, each with its value by name or by its type. */
function valueFor(document: Readonly<Record<string, unknown>>, schema: JsonSchema): unknown {
  const { type, enum: values, example, properties, items, anyOf } = resolve(document, schema)
  if (properties)
    return Object.fromEntries(
      Object.entries(properties as Record<string, JsonSchema>).map(([name, field]) => {
        const { enum: allowed } = resolve(document, field)
        const known = valueByName[name]
        return [name, known !== undefined && fits(known, allowed) ? known : valueFor(document, field)]
      }),
    )
  if (example !== undefined) return example
  if (Array.isArray(values)) return values[0]
  if (Array.isArray(anyOf)) return valueFor(document, anyOf[0])
  const simple = Array.isArray(type) ? type[0] : type
  if (simple === 'array') return [valueFor(document, items as JsonSchema)]
  if (simple === 'object') return {}
  if (simple === 'boolean') return true
  if (simple === 'integer' || simple === 'number') return 1
  return 'A text'
}

const fits = (value: unknown, allowed: unknown): boolean => !Array.isArray(allowed) || allowed.includes(value)
