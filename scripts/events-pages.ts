/** Writes `docs/events.md` and a page of each event, as a part of `scripts/reference-pages.ts`. */
import { type EventGroup, eventGroups, hostEvents } from '../docs/site/event-groups.ts'
import {
  catalogue,
  type EventName,
  eventDescription,
  fieldsOfUpdate,
  hostCatalogue,
  hostEventName,
  payloadSchema,
  webhookName,
} from '../lib/events/catalogue.ts'
import { plainSentence, sentenceOf } from '../lib/events/sentences.ts'
import { defaultTextLimits, type JsonSchema } from '../lib/fields.ts'
import { exampleOf } from '../lib/openapi/example.ts'
import { fieldRows, fieldsIn } from '../lib/openapi/field-rows.ts'
import { schemaWriter } from '../lib/openapi/schema.ts'
import { operations } from '../lib/operations.ts'
import { code, tableOf } from './markdown.ts'
import { pageOf } from './resource-pages.ts'

type Components = Readonly<Record<string, JsonSchema>>

const causes = new Map<string, string[]>()
for (const { id, scope, emits } of operations) {
  const link = `[${code(id)}](../operations/${pageOf({ id, scope })}.md#${id.replace('.', '')})`
  for (const name of emits) causes.set(name, [...(causes.get(name) ?? []), link])
}

/** The names of a group, each as the event that it is. */
const namesIn = ({ names }: EventGroup): EventName[] =>
  names.map((name) => {
    const known = webhookName(name) ?? hostEventName(name)
    if (!known) throw new Error(`docs/site/event-groups.ts has ${name}, which is no event`)
    return known
  })

/** Every event, by its name. */
export function allEvents(): readonly EventName[] {
  const grouped = [...eventGroups, hostEvents].flatMap(namesIn)
  const all = [...Object.keys(catalogue), ...Object.keys(hostCatalogue)]
  const missing = all.filter((name) => grouped.filter((each) => each === name).length !== 1)
  if (missing.length > 0) throw new Error(`docs/site/event-groups.ts has not each of these once: ${missing.join(', ')}`)
  return grouped
}

const changed = (name: EventName): string => (fieldsOfUpdate(name).length > 0 ? ' It names its changed fields.' : '')

/** The object that a field has or may have. */
function objectOf({ $ref, anyOf }: JsonSchema, components: Components): JsonSchema | undefined {
  if (Array.isArray(anyOf)) return objectOf(anyOf[0], components)
  return typeof $ref === 'string' ? components[$ref.slice($ref.lastIndexOf('/') + 1)] : undefined
}

/** Objects further inside have their fields in the example alone. */
const mostLevels = 2

/** The rows of an object's fields, each followed by those of the object in it, or of the objects in its list. */
function rowsOf(object: JsonSchema, components: Components, before = ''): string[][] {
  const level = before.split('.').length
  return fieldsIn(object, components).flatMap(({ name: own, schema, required }) => {
    const name = `${before}${own}`
    const item = objectOf((schema['items'] ?? {}) as JsonSchema, components)
    const inner = item ?? objectOf(schema, components)
    const [row = []] = fieldRows([{ name, schema, required }], components)
    const [, type = '', , , meaning = ''] = row
    const shown = inner && !item ? ('anyOf' in schema ? 'object or null' : 'object') : type
    const prefix = item ? `${name}[].` : `${name}.`
    return [[code(name), shown, meaning], ...(inner && level < mostLevels ? rowsOf(inner, components, prefix) : [])]
  })
}

/** The page of an event: what causes it, its fields and an example. */
export function eventPage(name: EventName): string {
  const writer = schemaWriter({ ids: 'string', limits: defaultTextLimits })
  const schema = writer.of(payloadSchema(name))
  const body = {
    event_id: '6191cd4e-661a-4019-8612-b390a945a09f',
    event_timestamp: '2026-11-20T10:00:00.000Z',
    event_type: `${name}Hook`,
    payload: exampleOf(schema, writer.components),
  }
  const by = causes.get(name)?.join(', ')
  const cause = by
    ? `Operations that cause it: ${by}.`
    : `No operation causes it: the host reports it with [${code('community.notify')} or ${code('community.publish')}](../embedding/events.md).`
  const facts = [
    cause,
    `In a sentence: *${plainSentence(sentenceOf(name, body.payload))}*.`,
    name in hostCatalogue
      ? 'It goes to endpoints of the audience `host` alone: [mail.md](../embedding/mail.md) has programs that receive it.'
      : `\`folkmoot trigger ${name}\` [sends the example](../webhooks/receive.md) to your endpoints.`,
  ]
  return `${eventDescription(name)}${changed(name)}

${facts.map((fact) => `- ${fact}`).join('\n')}

## Example

Every field is filled in:

\`\`\`json
${JSON.stringify(body, null, 2)}
\`\`\`

## Payload

${tableOf(['field', 'type', 'meaning'], rowsOf(schema, writer.components))}

[Events](../events.md) lists all events, and [webhooks](../webhooks.md) describes how they arrive.
`
}

const firstSentence = (text: string): string => /^.*?\.(?=\s|$)/s.exec(text)?.[0] ?? text

const tableOfGroup = (group: EventGroup): string => {
  const rows = namesIn(group).map((name) => [
    `[${code(`${name}Hook`)}](events/${name}Hook.md)`,
    `${firstSentence(eventDescription(name))}${changed(name)}`,
  ])
  return `${tableOf(['event', 'what has happened'], rows)}\n`
}

/** Every event in a sentence. */
export const eventsPage =
  (): string => `An endpoint of the audience ${code('integration')} receives the ${Object.keys(catalogue).length} kinds of event of the interface. An endpoint of the audience
${code('host')} receives the ${Object.keys(hostCatalogue).length} kinds at the end of this page instead. [webhooks.md](webhooks.md) describes the delivery.

Each event has a page with the fields of its payload, an example, and the operations that cause it. Some events, such as course
progress, have no operation behind them. The host reports those with ${code('community.notify')} or ${code('community.publish')}; see
[embedding/events.md](embedding/events.md).

Events of updates name the [changed fields](webhooks/receive.md#changed-fields) in the header ${code('folkmoot-changed')}.

Each event has a sentence, which [chat channels](webhooks/channels.md) get, and
${code('folkmoot listen')} and the timeline of a member show.

Many fields may be ${code('null')}: ${code('GET /webhooks/v1/spec.json')} has the schemas.

${eventGroups.map((group) => `## ${group.title}\n\n${tableOfGroup(group)}`).join('\n')}
## ${hostEvents.title}

[embedding/mail.md](embedding/mail.md) has whole programs that receive them and send the mails.

${tableOfGroup(hostEvents)}`
