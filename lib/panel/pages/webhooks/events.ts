/** The catalogue of events: groups for forms, and an example of each. */
import { found } from '../../../errors.ts'
import { catalogue, eventDescription, type WebhookName, webhookName } from '../../../events/catalogue.ts'
import type { JsonSchema } from '../../../fields.ts'
import { exampleOf } from '../../../openapi/example.ts'
import { noticeTypes } from '../../../outbox/values.ts'
import { pageOf } from '../../layout/layout.ts'
import type { Route, View } from '../../route.ts'
import { html } from '../../ui/html.ts'
import { dialog, marked } from '../../ui/parts.ts'

const groups: readonly (readonly [label: string, names: RegExp])[] = [
  ['Posts', /^(?:Post|Article|Question)/],
  ['Polls', /Poll/],
  ['Comments and reactions', /^(?:Comment|Reaction|ReportedContent)/],
  ['Events', /^(?:Event|Rsvp)/],
  ['Courses', /^Member(?:Course|Lesson)/],
  ['Payments and plans', /^Member(?:Plan|Purchase|RemovedFromPlan|Subscription)/],
  ['Tags, badges and fields', /^(?:MemberTag|MemberBadge|CustomField)/],
  ['Members', /^(?:Member|Invite)/],
  ['Other', /^/],
]

/** Every event in its group, each once. */
export function eventGroups(): readonly (readonly [label: string, names: readonly WebhookName[]])[] {
  let rest = Object.keys(catalogue) as WebhookName[]
  return groups.flatMap(([label, pattern]) => {
    const names = rest.filter((name) => pattern.test(name))
    rest = rest.filter((name) => !names.includes(name))
    return names.length > 0 ? [[label, names] as const] : []
  })
}

/** What the relay says of endpoints that fail, without `Hook`. */
export const noticeNames = noticeTypes.map((type) => type.replace(/Hook$/, ''))

/** `PostCreated` as words. */
export const wordsOf = (name: string): string => name.replace(/(?<=[a-z])(?=[A-Z])/g, ' ').toLowerCase()

export const exampleLink = (view: View, name: string) =>
  html`<a class="small" href="${view.link(`webhooks/events/${name}`)}" target="_blank" data-dialog>example<span class="sr"> of ${name}</span></a>`

interface WebhookDocument {
  readonly webhooks: Readonly<Record<string, { readonly post: { readonly requestBody: { readonly content: Content } } }>>
  readonly components: { readonly schemas: Readonly<Record<string, JsonSchema>> }
}
type Content = { readonly 'application/json': { readonly schema: { readonly properties: { readonly payload: JsonSchema } } } }

async function example(view: View) {
  const name = found(webhookName(view.params['name'] ?? ''), 'Event')
  // The document is made by the library itself.
  const { webhooks, components } = view.community.openapi('webhooks') as unknown as WebhookDocument
  const { schema } = found(webhooks[`${name}Hook`], 'Event').post.requestBody.content['application/json']
  const body = JSON.stringify(
    {
      event_id: '6191cd4e-661a-4019-8612-b390a945a09f',
      event_timestamp: '2026-11-20T10:00:00.000Z',
      event_type: `${name}Hook`,
      payload: exampleOf(schema.properties.payload, components.schemas),
    },
    null,
    2,
  )
  return pageOf(
    view,
    name,
    dialog(
      name,
      html`<p>${marked(eventDescription(name))}</p><p class="soft">The body of a delivery, with made-up values.</p>
<pre tabindex="0">${body}</pre><p><a class="button" href="${view.link('webhooks/events')}" data-close="Close">All events</a></p>`,
    ),
  )
}

async function list(view: View) {
  const items = eventGroups().map(
    ([label, names]) =>
      html`<h2>${label}</h2><ul class="list">${names.map(
        (name) => html`<li><code>${name}Hook</code> ${exampleLink(view, name)}<br>${marked(eventDescription(name))}</li>`,
      )}</ul>`,
  )
  return pageOf(view, 'Events', html`<h1>Events</h1><p class="soft">Everything that an endpoint can receive.</p>${items}`)
}

export const webhookEventRoutes: readonly Route[] = [
  { method: 'GET', path: 'webhooks/events', action: 'visit', handle: list },
  { method: 'GET', path: 'webhooks/events/:name', action: 'visit', handle: example },
]
