/**
 * The types of records and bodies that the client's methods name: interfaces with the sentence of each field, which editors show.
 * TypeScript cannot take a comment from a value, so the types that follow from the declarations have none. A test compares both.
 */
import type * as v from 'valibot'
import { defaultTextLimits, descriptionOf, isPaged, nameOf } from '../lib/fields.ts'
import { schemaWriter } from '../lib/openapi/schema.ts'
import { operations } from '../lib/operations.ts'

type Shape = v.GenericSchema & {
  readonly entries?: v.ObjectEntries
  readonly item?: v.GenericSchema
  readonly wrapped?: v.GenericSchema
}

const writer = schemaWriter({ ids: 'string', limits: defaultTextLimits })
const isOptionalType = ({ type }: v.GenericSchema): boolean => type === 'nullish'

/** Interfaces of the records in some schemas, by name. */
class Interfaces {
  readonly #texts = new Map<string, string>()

  /** The type of a schema; a record becomes an interface. */
  of(schema: Shape): string {
    const { entries, item, wrapped } = schema
    const name = nameOf(schema)
    if (entries && name) {
      if (!this.#texts.has(name)) {
        this.#texts.set(name, '')
        this.#texts.set(name, this.#interface(name, entries))
      }
      return name
    }
    if (wrapped) return `${this.of(wrapped)} | null`
    if (item) return listOf(this.of(item))
    const { type, enum: values, items, format } = writer.of(schema)
    if (Array.isArray(values)) return values.map((value) => `'${value}'`).join(' | ')
    if (items) return listOf('string')
    if (format === 'binary') return 'File'
    return [type].flat().map(typeNamed).join(' | ')
  }

  #interface(name: string, entries: v.ObjectEntries): string {
    const fields = Object.entries(entries).map(([field, schema]) => {
      const type = this.of(schema as Shape)
      const isOptional = isOptionalType(schema as Shape)
      const shown = isOptional && type === 'unknown | null' ? 'unknown' : `${type}${isOptional ? ' | undefined' : ''}`
      return `  /** ${descriptionIn(schema as Shape)} */\n  ${field}${isOptional ? '?' : ''}: ${shown}`
    })
    return `export interface ${name} {\n${fields.join('\n')}\n}\n`
  }

  toString(): string {
    return [...this.#texts]
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([, text]) => text)
      .join('\n')
  }
}

const descriptionIn = (schema: Shape): unknown => descriptionOf(schema) ?? (schema.wrapped && descriptionIn(schema.wrapped))

const listOf = (type: string): string => (type.includes(' ') ? `(${type})[]` : `${type}[]`)

const names: Readonly<Record<string, string>> = { integer: 'number', object: 'unknown' }
const typeNamed = (type: unknown): string => names[String(type)] ?? String(type)

/** The type of an operation's response; of a list, that of one record. */
function resultOf({ id, returns, noContent }: (typeof operations)[number], interfaces: Interfaces): string {
  if (!returns) return 'undefined'
  if (isPaged(returns)) return interfaces.of(returns.paged)
  // A record without fields has no interface.
  if (Object.keys((returns as Shape).entries ?? {}).length === 0) return `OperationResult<'${id}'>`
  return `${interfaces.of(returns)}${noContent ? ' | undefined' : ''}`
}

const file = (head: string, imports: string, interfaces: Interfaces, about: string, name: string, rows: readonly string[]) =>
  `/** ${head} */\n${imports}\n${interfaces}\n/** ${about} */\nexport interface ${name} {\n${rows.join('\n')}\n}\n`

/** The file of the records that responses hold. */
export function recordsFile(head: string): string {
  const interfaces = new Interfaces()
  const rows = operations.map((operation) => `  '${operation.id}': ${resultOf(operation, interfaces)}`)
  const about = 'The response of each operation; of a list, one record.'
  return file(head, "import type { OperationResult } from '../operations.ts'\n", interfaces, about, 'Results', rows.toSorted())
}

/** The file of the bodies that requests hold. */
export function bodiesFile(head: string): string {
  const interfaces = new Interfaces()
  const rows = operations.flatMap(({ id, body }) => (body ? [`  '${id}': ${interfaces.of(body)}`] : []))
  return file(head, '', interfaces, 'The body of each operation that takes one.', 'Bodies', rows.toSorted())
}
