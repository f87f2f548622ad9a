/**
 * The JSON texts of records. A request's answer and its event mostly hold the same record, or the event has it with further fields.
 * Writing it is a large part of a write, so its text is made once.
 */
import * as v from 'valibot'
import { type Fields, record } from '../../fields.ts'
import { projection } from './projection.ts'

/** A record with further fields behind its own. */
interface Extension {
  readonly record: v.GenericSchema
  readonly further: v.GenericSchema
}

const extensions = new WeakMap<object, Extension>()
/** The key of the record that a value with further fields was made of. It is in no JSON. */
const origin = Symbol('origin')

/**
 * A record of the interface that is another one with further fields.
 * @param name its name in the interface description
 * @param base the other record
 * @param further the fields behind those of the other
 */
export function extendedRecord<const F extends Fields, const G extends Fields>(
  name: string,
  base: v.ObjectSchema<F, undefined>,
  further: G,
): v.ObjectSchema<F & G, undefined> {
  const extended = record(name, { ...base.entries, ...further })
  extensions.set(extended, { record: base, further: v.object(further) })
  return extended
}

/** A record as a value of its `extendedRecord`: a copy with further fields. The record must not change any more. */
export function withFields<R extends object, F extends object>(of: R, further: F): R & F {
  return { ...of, ...further, [origin]: of }
}

interface Made {
  readonly schema: v.GenericSchema
  readonly text: string
}

/**
 * Writes the records of one request. It keeps their texts by value for no longer than that: a host may change its own objects.
 */
export class RecordWriter {
  readonly #ids: 'string' | 'number'
  readonly #base: string
  #made: Map<object, Made> | undefined

  /**
   * @param ids the JSON type of ids
   * @param base what the paths of stored files are put behind
   */
  constructor(ids: 'string' | 'number', base: string) {
    this.#ids = ids
    this.#base = base
  }

  /** The JSON value of a record. */
  value(schema: v.GenericSchema, record: unknown): unknown {
    return projection(schema, this.#ids)(record, this.#base)
  }

  /** The JSON text of a record. */
  text(schema: v.GenericSchema, record: unknown): string {
    if (typeof record !== 'object' || record === null) return this.#write(schema, record)
    const known = this.#made?.get(record)
    if (known?.schema === schema) return known.text
    const extension = extensions.get(schema)
    const base = extension && (record as { readonly [origin]?: object })[origin]
    const text =
      extension && base
        ? `${this.text(extension.record, base).slice(0, -1)},${this.#write(extension.further, record).slice(1)}`
        : this.#write(schema, record)
    this.#made ??= new Map()
    this.#made.set(record, { schema, text })
    return text
  }

  /** Forgets the texts, because the work runs again. */
  forget(): void {
    this.#made = undefined
  }

  #write(schema: v.GenericSchema, record: unknown): string {
    return JSON.stringify(this.value(schema, record))
  }
}
