/**
 * The JSON texts of records. A request's response and its event mostly hold the same record. Writing it is a large part of a
 * write, so its text is made once.
 */
import type * as v from 'valibot'
import { projection } from './projection.ts'

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

  value(schema: v.GenericSchema, record: unknown): unknown {
    return projection(schema, this.#ids)(record, this.#base)
  }

  text(schema: v.GenericSchema, record: unknown): string {
    if (typeof record !== 'object' || record === null) return this.#write(schema, record)
    const known = this.#made?.get(record)
    if (known?.schema === schema) return known.text
    const text = this.#write(schema, record)
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
