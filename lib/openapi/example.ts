/** Example values for a JSON Schema of the library: what a webhook body or a record may look like. The same each time. */
import type { JsonSchema } from '../fields.ts'

const byName: Readonly<Record<string, string | number>> = {
  email: 'ada@example.org',
  first_name: 'Ada',
  last_name: 'Ash',
  name: 'Green house',
  short_bio: 'Grows roses.',
  bio: 'Grows roses.',
  location: 'Hamburg',
  label: 'Hamburg',
  latitude: 53.55,
  longitude: 9.99,
  time_zone: 'Europe/Berlin',
  ambassador_level: 'Gold',
  ambassador_level_name: 'Gold',
  subdomain: 'garden',
  title: 'Spring in the garden',
  subtitle: 'For everybody with a spade',
  purpose: 'To learn from each other.',
  summary: 'What there is to do.',
  description: 'What there is to do.',
  placeholder: 'In a few words',
  message: 'Come and join us.',
  reason: 'It sells shoes.',
  text: 'Well said!',
  previous_text: 'Well done!',
  emoji: '🌱',
  color: '#336699',
  currency: 'usd',
  amount: 900,
  interval: 'month',
  payment_platform: 'stripe',
  country: 'DE',
  post_type: 'post',
  content_type: 'text',
  response_type: 'text_short',
  targetable_type: 'Post',
  type: 'Asset',
  recurrence_rule: 'FREQ=WEEKLY;INTERVAL=2',
  by_days: 'TU,TH',
  by_month_days: '1,-1',
  phone_number: '+49 30 901820',
  original_aspect_ratio: '16:9',
  input_type: 'file',
  date: '2026-11-20',
  start_date: '2026-11-20',
  end_date: '2026-11-22',
}

/** The value of a name, or of the same one without what it is about. */
const knownAs = (name: string): string | number | undefined =>
  byName[name] ?? byName[name.replace(/^(?:member|recipient|ban|new|base)_/, '')]

const byFormat: Readonly<Record<string, string>> = {
  date: '2026-11-20',
  'date-time': '2026-11-20T10:00:00.000Z',
  binary: 'the bytes of the file',
  uuid: '6191cd4e-661a-4019-8612-b390a945a09f',
  uri: 'https://example.org/page',
  email: 'ada@example.org',
}

/** Records hold records, at most this deep. */
const maxDepth = 12

/**
 * A value that the schema allows, with every field present and not null.
 * @param schema a JSON Schema as `schemaWriter` writes it
 * @param components what its references point to, by name
 * @throws Error for a schema that refers to itself, or to nothing
 */
export function exampleOf(schema: JsonSchema, components: Readonly<Record<string, JsonSchema>>): unknown {
  return value(schema, '', 0)

  function value(given: JsonSchema, name: string, depth: number): unknown {
    if (depth > maxDepth) throw new Error(`the schema of ${name} refers to itself`)
    const { $ref, enum: choices, anyOf, items, properties, example } = given
    if (typeof $ref === 'string') {
      const target = components[$ref.slice($ref.lastIndexOf('/') + 1)]
      if (!target) throw new Error(`${$ref} refers to nothing`)
      return value(target, name, depth + 1)
    }
    if ('const' in given) return given['const']
    if (Array.isArray(choices)) return choices[0]
    if (Array.isArray(anyOf)) return value(anyOf[0], name, depth + 1)
    if (example !== undefined) return example
    const types = [given['type']].flat()
    switch (types[0]) {
      case 'object':
        return Object.fromEntries(
          Object.entries((properties ?? {}) as Record<string, JsonSchema>).map(([key, field]) => [
            key,
            value(field, key, depth + 1),
          ]),
        )
      case 'array':
        return items ? [value(items as JsonSchema, name, depth + 1)] : []
      case 'integer':
      case 'number': {
        const known = knownAs(name)
        if (typeof known === 'number') return known
        // An id in a request may be a number too.
        if (types.includes('string')) return known ?? '254803968000'
        return typeof given['minimum'] === 'number' ? Math.max(1, given['minimum']) : 1
      }
      case 'boolean':
        return true
      case 'null':
        return null
      default:
        return byFormat[String(given['format'])] ?? knownAs(name) ?? name.replace(/_/g, ' ')
    }
  }
}
