/**
 * Filters of lists, each declared once. From a declaration follow the query parameter of the operation, the argument of the host's
 * call, the flag of the command, the field of the panel's form, and the condition on the rows.
 */
import type * as v from 'valibot'
import type { Context } from '../../context.ts'
import { describe, extension, oneOf, optional, TimestampInput } from '../../fields.ts'
import type { Scope } from '../../operation.ts'
import { allOf } from '../../storage/conditions.ts'
import type { Conditions, Query } from '../../storage/contract.ts'
import { authorise } from '../scopes.ts'

/** Who filters, and where. */
export interface Searcher {
  readonly network: Pick<Context['network'], 'member_email_visibility'>
  readonly principal: Pick<Context['principal'], 'scopes'>
}

export interface Filter<R, S extends v.GenericSchema = v.GenericSchema> {
  /** The field of its value: optional, described, and an extension of the interface. */
  readonly schema: S
  /** What a caller must be allowed to read besides the list. */
  readonly scope?: Scope
  /** What a row must meet. */
  condition(value: never, searcher: Searcher): Conditions<R>
}

export type Filters<R> = Readonly<Record<string, Filter<R>>>

/**
 * Declares a filter.
 * @param sentence describes it
 * @param scope what a caller must be allowed to read besides the list
 */
export const filter = <R, S extends v.GenericSchema>(
  schema: S,
  sentence: string,
  condition: (value: v.InferOutput<S>, searcher: Searcher) => Conditions<R>,
  scope?: Scope,
) => ({ schema: extension(describe(optional(schema), sentence)), condition, ...(scope ? { scope } : {}) })

/** The two filters of a time: from a moment on, and before another one. */
export const during = <R>(column: keyof R & string, of: string) => ({
  after: filter<R, typeof TimestampInput>(TimestampInput, `Only with ${of} at this moment or later.`, (from) =>
    between<R>(column, { from }),
  ),
  before: filter<R, typeof TimestampInput>(TimestampInput, `Only with ${of} before this moment.`, (before) =>
    between<R>(column, { before }),
  ),
})

const between = <R>(column: keyof R & string, range: object): Conditions<R> => ({ ranges: { [column]: range } }) as Conditions<R>

type FieldsOf<F> = { readonly [K in keyof F]: F[K] extends { readonly schema: infer S } ? S : never }

/** The fields of filters, for a query, an argument or a form. */
export const fieldsOf = <const F extends Readonly<Record<string, { readonly schema: v.GenericSchema }>>>(
  filters: F,
): FieldsOf<F> => Object.fromEntries(Object.entries(filters).map(([name, { schema }]) => [name, schema])) as FieldsOf<F>

/**
 * The conditions of the filters that are given. Other names are left alone.
 * @throws ApiError 403 when the caller may not read what a filter is about
 */
export function conditionsOf<R>(filters: Filters<R>, given: object, searcher: Searcher): Conditions<R> {
  const all = Object.entries(filters).flatMap(([name, { scope, condition }]) => {
    const value: unknown = Reflect.get(given, name)
    if (value === undefined) return []
    if (scope) authorise(searcher.principal.scopes, scope)
    // Its schema has made the value.
    return [condition(value as never, searcher)]
  })
  return allOf(all)
}

/** By the names that callers use, the columns by which a list may be sorted. */
export type Sorts<R> = Readonly<Record<string, keyof R & string>>

/** The field by which callers choose the order of a list. */
export function sortField<const S extends Readonly<Record<string, string>>>(sorts: S, sentence: string) {
  const names = Object.keys(sorts).flatMap((name) => [name, `-${name}`]) as ((keyof S & string) | `-${keyof S & string}`)[]
  return extension(describe(optional(oneOf(...names)), sentence))
}

export const orderOf = <R>(sorts: Sorts<R>, sort: string): Query<R>['order'] => {
  const by = sorts[sort.replace('-', '')]
  return by === undefined ? undefined : { by, direction: sort.startsWith('-') ? 'desc' : 'asc' }
}
