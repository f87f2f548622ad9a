/**
 * Options as schemas: every name once, with its rule and its default. All problems are collected into one error, including unknown names.
 *
 * A message is the end of a sentence that begins with the option: "option `ids` must be …".
 */
import * as v from 'valibot'
import { shown } from './describe-value.ts'
import { isObject } from './json-object.ts'
import { suggestion } from './suggest.ts'

/** The message of a rule, with the value that breaks it: never for secrets. */
export const must =
  (rule: string) =>
  ({ input }: v.BaseIssue<unknown>): string =>
    `must ${rule}, got ${shown(input)}`

export type Checked<E extends v.ObjectEntries> = { readonly [K in keyof E]: v.InferOutput<E[K]> }

/**
 * The rules of the options of an interface. With `satisfies`, the compiler names an option without a rule, a rule without an
 * option, and a rule whose values the option may not have.
 */
export type RulesOf<Options> = { readonly [Name in keyof Options]-?: v.GenericSchema<unknown, Options[Name] | undefined> }

/** At most this many unknown names are reported, and this many problems of one option. */
const maxStrangers = 5
const maxProblems = 20

const issueOf = (input: unknown, message: string): v.BaseIssue<unknown> => ({
  ...{ kind: 'schema', type: 'options', input, expected: null, received: '' },
  message,
})

/** A name that is no plain word is not repeated: it may be a secret in the wrong place. */
const stranger = (name: string, known: readonly string[]): string =>
  /^[\w-]{1,40}$/.test(name) ? `does not exist; ${suggestion(name, known)}` : `does not exist; allowed: ${known.join(', ')}`

/** Where a rule keeps what would be missing; see `rejectUndefined`. */
const without = Symbol('without')

/**
 * A rule for an option without which less is checked. It may be left out, but `undefined` in its place is refused. That is nearly
 * always a variable that is not set.
 * @param missing the consequence of `undefined`, as the end of a sentence: "requests would not be limited"
 */
export const rejectUndefined = <S extends v.GenericSchema>(rule: S, missing: string): S => ({ ...rule, [without]: missing })

/** What is wrong with an `undefined` that was written down, if that is refused. */
function unstated(schema: object, given: object, name: string): string | undefined {
  const missing = without in schema && name in given ? schema[without] : undefined
  return missing === undefined ? undefined : `is undefined, so ${missing}: set it, or leave the option out if you mean that`
}

function check(entries: v.ObjectEntries, given: unknown, config: v.Config<v.BaseIssue<unknown>>) {
  if (!isObject(given)) return { values: {}, issues: [issueOf(given, must('be an object')(issueOf(given, '')))] }
  const known = Object.keys(entries)
  const issues: v.BaseIssue<unknown>[] = []
  const add = (name: string, issue: v.BaseIssue<unknown>) => {
    const key = /^[\w-]{1,40}$/.test(name) ? name : '…'
    const step: v.ObjectPathItem = { type: 'object', origin: 'value', input: given, key, value: issue.input }
    issues.push({ ...issue, path: [step, ...(issue.path ?? [])] })
  }
  const strangers = Object.keys(given).filter((name) => !Object.hasOwn(entries, name))
  for (const name of strangers.slice(0, maxStrangers)) add(name, issueOf(given[name], stranger(name, known)))
  const values = Object.entries(entries).map(([name, schema]): [string, unknown] => {
    const result = schema['~run']({ value: given[name] }, config as never) as v.OutputDataset<unknown, v.BaseIssue<unknown>>
    const mistake = given[name] === undefined ? unstated(schema, given, name) : undefined
    if (mistake !== undefined) add(name, issueOf(undefined, mistake))
    // One problem of each value is enough.
    const problems = new Map((result.issues ?? []).toReversed().map((issue) => [v.getDotPath(issue), issue]))
    for (const issue of [...problems.values()].toReversed().slice(0, maxProblems)) add(name, issue)
    return [name, result.value]
  })
  return { values: Object.fromEntries(values.filter(([, value]) => value !== undefined)), issues }
}

/** Options within an option. */
export const group = <const E extends v.ObjectEntries>(entries: E): v.GenericSchema<unknown, Checked<E>> =>
  groupOf(entries, false)

/** The same for an object that stays the one that was given, because its methods may need it. */
export const instance = <T extends object>(
  entries: { readonly [K in keyof T]-?: v.GenericSchema },
): v.GenericSchema<unknown, T> => groupOf<T>(entries, true)

function groupOf<Output>(entries: v.ObjectEntries, keep: boolean): v.GenericSchema<unknown, Output> {
  const any = v.custom<Output>(() => true)
  const run: (typeof any)['~run'] = (dataset, config) => {
    const { values, issues } = check(entries, dataset.value, config)
    // Checked field by field.
    const value = (keep ? dataset.value : values) as Output
    const [first, ...rest] = issues as v.CustomIssue[]
    return first ? { typed: false, value, issues: [first, ...rest] } : { typed: true, value }
  }
  return { ...any, '~run': run }
}

/**
 * Checks options and fills in their defaults.
 * @param noun what one of them is called: option, setting
 * @returns the problems, as sentences, or the options
 */
export function checkedOptions<const E extends v.ObjectEntries>(
  noun: string,
  entries: E,
  given: object,
): { readonly problems: readonly string[]; readonly options: Checked<E> } {
  const { values, issues } = check(entries, given, {})
  const problems = issues.map((issue) => `${noun} \`${v.getDotPath(issue)}\` ${issue.message}`)
  // With problems the options are not used.
  return { problems, options: values as Checked<E> }
}

// ---- Rules that many options share -----------------------------------------------------------------------------------

export const flag = v.boolean(must('be true or false'))
/** A whole number above 0. */
export const count = v.custom<number>(
  (value) => Number.isSafeInteger(value) && Number(value) > 0,
  must('be a whole number above 0'),
)
export const positive = v.custom<number>((value) => typeof value === 'number' && value > 0, must('be a number above 0'))
export const oneOf = <const T extends readonly string[]>(...values: T) =>
  v.picklist(values, must(`be ${values.map((value) => `'${value}'`).join(' or ')}`))
/** A function; its type is the caller's word. */
export const callable = <F extends (...args: never[]) => unknown>() =>
  v.custom<F>((value) => typeof value === 'function', must('be a function'))

const has = (value: unknown, method: string): boolean =>
  typeof (value as Readonly<Record<string, unknown>> | null | undefined)?.[method] === 'function'

/** An object with these methods; `hint` ends the sentence. */
export const withMethods = <T>(methods: readonly string[], hint = '') =>
  v.custom<T>(
    (value) => methods.every((method) => has(value, method)),
    ({ input }) => {
      const missing = methods.filter((method) => !has(input, method))
      return `must have ${missing.length === 1 ? 'a method' : 'the methods'} ${missing.join(', ')}, got ${shown(input)}${hint === '' ? '' : `; ${hint}`}`
    },
  )
