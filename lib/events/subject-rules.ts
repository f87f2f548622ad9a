/**
 * The subject of an event. Endpoints with `order: 'subject'` get the events of one subject one at a time, in the recorded
 * order. So a receiver that keeps the last write ends with the right state.
 *
 * A subject covers the data that receivers keep in one place. Everything about a member (profile, plans, tags, badges, courses,
 * answers) is one subject, and so are a post and its comments.
 */

/** The subject in a payload, such as `member:7`; undefined if it names none. */
export type SubjectRule = (payload: unknown) => string | undefined

/** A field of a payload by its path, as text; ids may be written as numbers. */
function at(payload: unknown, path: readonly string[]): string | undefined {
  let value = payload
  for (const name of path) value = (value as Readonly<Record<string, unknown>> | null | undefined)?.[name]
  return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined
}

/** A kind of subject, and the fields of a payload that identify it. */
export function about(kind: string, ...fields: readonly string[]): SubjectRule {
  const paths = fields.map((field) => field.split('.'))
  return (payload) => {
    let subject = kind
    for (const path of paths) {
      const part = at(payload, path)
      if (part === undefined) return undefined
      subject += `:${part}`
    }
    return subject
  }
}
const either =
  (...rules: readonly SubjectRule[]): SubjectRule =>
  (payload) => {
    for (const rule of rules) {
      const subject = rule(payload)
      if (subject !== undefined) return subject
    }
    return undefined
  }

export const member = about('member', 'member.id')
export const buyer = about('member', 'member_id')
export const post = about('post', 'id')
/** A person who makes a request may be a member already. */
export const request = either(buyer, about('invite_request', 'id'))
/** A reaction or an answer that is made again has another id. */
export const reaction = about('reaction', 'targetable_type', 'targetable_id', 'member_id')
export const rsvp = about('rsvp', 'event.id', 'member.id')
