/** How adapters check their options: every problem in one `TypeError`, each with the option's name and what to do. */
import * as v from 'valibot'
import { kind, shown } from '../lib/base/given.ts'

/** The options of a call, by name: what each must be. */
export type OptionRules = Readonly<Record<string, v.GenericSchema>>

/**
 * @param call the call's name, for the message
 * @param example how it is called, for whoever gave no options
 * @throws TypeError that lists every problem
 */
export function checkOptions(call: string, rules: OptionRules, given: unknown, example: string): void {
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    throw new TypeError(`${call}: the options must be an object, as in ${call}(${example}), got ${shown(given)}`)
  const options: Readonly<Record<string, unknown>> = { ...given }
  const strange = Object.keys(options)
    .filter((name) => !Object.hasOwn(rules, name))
    .map((name) => `option \`${name.slice(0, 50)}\` does not exist; allowed: ${Object.keys(rules).join(', ')}`)
  const wrong = Object.entries(rules).flatMap(([name, rule]) => {
    const { issues } = v.safeParse(rule, options[name])
    return issues ? [`option \`${name}\` ${issues[0].message}, got ${shown(options[name])}`] : []
  })
  const problems = [...strange.slice(0, 5), ...wrong]
  if (problems.length > 0) throw new TypeError(`${call}: ${problems.join('; ')}`)
}

/** The path of this, as a text that is not empty. */
export const pathOf = (noun: string) => v.pipe(v.string(`must be the path of ${noun}`), v.nonEmpty(`must be the path of ${noun}`))

const has = (value: unknown, method: string): boolean =>
  typeof (value as Readonly<Record<string, unknown>> | null | undefined)?.[method] === 'function'

const isWriter = (value: unknown): boolean => has(value, 'append') && has(value, 'close')

/** Where the records of commits go. */
export const outboxWriter = v.custom(isWriter, ({ input }) =>
  kind(input).startsWith('a Promise') ? 'must be awaited' : 'must be an outbox, as in await openOutbox({ directory })',
)

export const flag = v.optional(v.boolean('must be true or false'))
export const positive = v.optional(
  v.pipe(
    v.number('must be a number above 0'),
    v.check((value) => value > 0, 'must be a number above 0'),
  ),
)
export const wholeNumber = v.optional(
  v.pipe(
    v.number('must be a whole number above 0'),
    v.check((value) => Number.isSafeInteger(value) && value > 0, 'must be a whole number above 0'),
  ),
)
export const listener = v.optional(v.custom((value) => typeof value === 'function', 'must be a function'))
/** For tests: whatever it is. */
export const anything = v.optional(v.unknown())
