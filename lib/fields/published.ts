/** The published form of a field: each schema has its JSON Schema with it. */
import type * as v from 'valibot'

/** The published description of a field, in JSON Schema 2020-12. */
export interface JsonSchema {
  readonly [keyword: string]: unknown
}

/** Any synchronous Valibot schema. */
export type Schema<Output = unknown> = v.GenericSchema<unknown, Output>
/** The fields of a record or a request, by name. */
export type Fields = v.ObjectEntries

/** The facts of a schema for documents and projections, in addition to its checks. */
interface Facts {
  /** How it is published, without its description. */
  readonly json?: JsonSchema
  readonly description?: unknown
  /** The value that counts where an optional field is left out. */
  readonly byDefault?: unknown
  /** The component name of a record or a request. */
  readonly name?: string
  readonly kind?: 'id' | 'id input' | 'file url'
  /** Beyond the interface that folkmoot follows. */
  readonly isExtension?: true
  /** Optional in the schema, and demanded by the operation. */
  readonly isDemanded?: true
  /** The maximum number of items of a list: a number, or the name of a limit. */
  readonly maxItems?: unknown
}

const facts = new WeakMap<object, Facts>()
const factsOf = (schema: object): Facts => facts.get(schema) ?? {}

/** Adds facts to a schema. Gives the schema back. */
export function mark<S extends object>(schema: S, more: Facts): S {
  facts.set(schema, { ...facts.get(schema), ...more })
  return schema
}

/** Publishes a schema as this JSON Schema. Gives the schema back. */
export const publish = <S extends v.GenericSchema>(schema: S, { description, ...json }: JsonSchema): S =>
  mark(schema, { json, description })

/** Publishes the same schema with another description. It may be inside of `orNull` or around it. */
export const describe = <S extends v.GenericSchema>(schema: S, description: string): S =>
  mark({ ...schema }, { ...factsOf(schema), description })

/** Publishes what counts where an optional field is left out. The operation does it. */
export const byDefault = <S extends v.GenericSchema>(schema: S, value: string | boolean): S =>
  mark({ ...schema }, { ...factsOf(schema), byDefault: value })

/** Publishes a field as an extension: the interface that folkmoot follows does not have it. */
export const extension = <S extends v.GenericSchema>(schema: S): S =>
  mark({ ...schema }, { ...factsOf(schema), isExtension: true })

/** Publishes an optional field as required. The operation refuses a request without it, with a failure that it declares. */
export const demanded = <S extends v.GenericSchema>(schema: S): S => mark({ ...schema }, { ...factsOf(schema), isDemanded: true })

/** The JSON Schema that a field was published as, if it was; without its description. */
export const publishedAs = (schema: object): JsonSchema | undefined => factsOf(schema).json
export const descriptionOf = (schema: object): unknown => factsOf(schema).description
/** The value that counts where an optional field is left out, if it has one. */
export const defaultOf = (schema: object): unknown => factsOf(schema).byDefault
/** The component name of a record or a request, if it has one. */
export const nameOf = (schema: object): string | undefined => factsOf(schema).name
/** Whether a schema is that of an id in a record, which option `ids` may turn into a number. */
export const isIdSchema = (schema: object): boolean => factsOf(schema).kind === 'id'
/** Whether a schema is that of an id in a request, which may be a number or its text. */
export const isIdInput = (schema: object): boolean => factsOf(schema).kind === 'id input'
/** Whether a schema is that of the address of a stored file, which may be kept without its origin. */
export const isFileUrl = (schema: object): boolean => factsOf(schema).kind === 'file url'
export const isExtension = (schema: object): boolean => factsOf(schema).isExtension === true
/** Whether an optional field is published as required. */
export const isDemanded = (schema: object): boolean => factsOf(schema).isDemanded === true
/** The maximum number of items of a list in a request: a number, or the name of a limit. */
export const maxItemsOf = (schema: object): unknown => factsOf(schema).maxItems
