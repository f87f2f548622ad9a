/** The options of every call: each rule once, every problem at once. */
import * as v from 'valibot'
import { expect, test } from 'vitest'
import { callable, checkedOptions, count, flag, group, instance, oneOf, withMethods } from '../../lib/base/options.ts'

const rules = {
  size: v.optional(count, 5),
  mode: v.optional(oneOf('on', 'off'), 'on'),
  log: v.optional(callable<() => void>()),
  hooks: v.optional(instance<{ before?: () => string }>({ before: v.optional(callable()) }), {}),
  limits: v.optional(group({ title: v.optional(count, 255), strict: v.optional(flag, false) }), {}),
  clock: v.optional(withMethods(['now', 'after'])),
  names: v.optional(v.array(v.string('must be a text')), []),
}
const problemsOf = (given: object) => checkedOptions('option', rules, given).problems

test('what is left out, or undefined, has its default', () => {
  const filled = { size: 5, mode: 'on', hooks: {}, limits: { title: 255, strict: false }, names: [] }
  expect(checkedOptions('option', rules, {})).toEqual({ problems: [], options: filled })
  const given = Object.freeze({ size: undefined, limits: Object.freeze({ title: 9 }) })
  expect(checkedOptions('option', rules, given)).toEqual({
    problems: [],
    options: { ...filled, limits: { title: 9, strict: false } },
  })
})

test('an object with methods stays the one that was given', () => {
  class Hooks {
    readonly #name = 'mine'
    before() {
      return this.#name
    }
  }
  const hooks = new Hooks()
  const { options } = checkedOptions('option', rules, { hooks })
  expect(options.hooks).toBe(hooks)
  expect(options.hooks.before?.()).toBe('mine')
})

test('every problem is listed, unknown names first, each with the nearest that does', () => {
  expect(
    problemsOf({ sise: 1, size: 0, mode: 'of', limits: { titel: 5, strict: 1 }, clock: { now() {} }, names: ['a', 1, 2] }),
  ).toEqual([
    'option `sise` does not exist; did you mean size?',
    'option `size` must be a whole number above 0, got 0',
    "option `mode` must be 'on' or 'off', got \"of\"",
    'option `limits.titel` does not exist; did you mean title?',
    'option `limits.strict` must be true or false, got 1',
    'option `clock` must have a method after, got an object',
    'option `names.1` must be a text',
    'option `names.2` must be a text',
  ])
})

test('a name that is no plain word is not repeated, and not many are listed', () => {
  const secret = 'whsec_abc\r\nX-Injected: 1'
  expect(problemsOf({ [secret]: 1 }).join()).toMatch(/^option `…` does not exist; allowed: size, mode/)
  expect(problemsOf(Object.fromEntries(Array.from({ length: 1000 }, (_, place) => [`x${place}`, 1])))).toHaveLength(5)
})

test.each([[[]], [null], [5], [() => {}]])('options within an option are an object, not %o', (limits) => {
  expect(problemsOf({ limits })).toEqual([expect.stringMatching(/^option `limits` must be an object, got /)])
})
