/** How adapters check their options: every problem in one `TypeError`, each with the option's name and what to do. */
import * as v from 'valibot'
import { kind, shown } from '../lib/base/describe-value.ts'
import { type Checked, checkedOptions, must, withMethods } from '../lib/base/options.ts'
import type { OutboxWriter } from '../lib/storage/contract.ts'

export { callable, count, flag, group, positive, type RulesOf, rejectUndefined, withMethods } from '../lib/base/options.ts'

/**
 * @param call the call's name, for the message
 * @param rules what each option must be, with its default
 * @param example the call, for a caller without options
 * @returns the options, with their defaults
 * @throws TypeError that lists every problem
 */
export function checkOptions<const E extends v.ObjectEntries>(
  call: string,
  rules: E,
  given: unknown,
  example: string,
): Checked<E> {
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    throw new TypeError(`${call}: the options must be an object, as in ${call}(${example}), got ${shown(given)}`)
  const { problems, options } = checkedOptions('option', rules, given)
  if (problems.length > 0) throw new TypeError(`${call}: ${problems.join('; ')}`)
  return options
}

/** The path of this, as a text that is not empty. */
export const pathOf = (noun: string) =>
  v.custom<string>((value) => typeof value === 'string' && value !== '', must(`be the path of ${noun}`))

export const sqlitePath = v.custom<string>(
  (value) => typeof value === 'string' && value !== '' && value !== ':memory:' && !/^(file|sqlite):/.test(value),
  must('be the path of a file, such as ./data/db.sqlite; for memory there is `memoryStorage`'),
)

/** A text that is not empty, as the name of this. */
export const nameOf = (noun: string) =>
  v.custom<string>((value) => typeof value === 'string' && value !== '', must(`name ${noun}`))

/** A text, such as this. */
export const textOf = (noun: string) => v.string(must(`be ${noun}`))

/** Where the records of commits go. */
export const outboxWriter = v.custom<OutboxWriter>(
  (value) => v.is(withMethods(['append', 'close']), value),
  ({ input }) =>
    `${kind(input).startsWith('a Promise') ? 'must be awaited' : 'must be an outbox, as in await openOutbox({ directory })'}, got ${shown(input)}`,
)

/** Any value: for tests, and for options that are checked elsewhere. */
export const anything = <T>() => v.custom<T>(() => true)
