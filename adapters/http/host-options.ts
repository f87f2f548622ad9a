/** How every adapter checks the options of its host. No module of Node is loaded here. */
import * as v from 'valibot'
import type { Checked } from '../../lib/base/options.ts'
import { callable, checkOptions } from '../options.ts'

/** The host's own id of a request. */
export const requestIdRule = <F extends (...about: never[]) => unknown>() => v.optional(callable<F>())

/**
 * @param call the call's name, for the message
 * @returns the options, with their defaults
 * @throws TypeError that lists every problem
 */
export const checkHostOptions = <const E extends v.ObjectEntries>(call: string, rules: E, given: unknown): Checked<E> =>
  checkOptions(call, rules, given, 'community, { requestId }')
