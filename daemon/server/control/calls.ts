/** What commands ask of a community, by name: in their own process, or of a server over its control. */
import type { Community } from '../../../lib/index.ts'

/** The part of a community that commands use. */
export type Operator = Pick<Community, 'networks' | 'keys' | 'endpoints'>

const functions = {
  networks: ['create', 'list', 'find'],
  keys: ['create', 'list', 'revoke'],
  endpoints: ['upsert', 'list', 'remove', 'republish'],
} as const satisfies { readonly [Group in keyof Operator]: readonly (keyof Operator[Group])[] }

/** Every call, as `networks.list`. */
export const callNames: ReadonlySet<string> = new Set(
  Object.entries(functions).flatMap(([group, names]) => names.map((name) => `${group}.${name}`)),
)

type AnyFunction = (...args: readonly unknown[]) => Promise<unknown>

/**
 * Runs a call.
 * @param name one of `callNames`
 */
export function runCall(operator: Operator, name: string, args: readonly unknown[]): Promise<unknown> {
  const [group = '', own = ''] = name.split('.')
  const all = operator as unknown as Readonly<Record<string, Readonly<Record<string, AnyFunction>>>>
  const called = callNames.has(name) ? all[group]?.[own] : undefined
  if (!called) throw new TypeError(`there is no call ${JSON.stringify(name)}`)
  return called(...args)
}

/** An operator whose calls are all made by `send`. */
export function operatorOver(send: (name: string, args: readonly unknown[]) => Promise<unknown>): Operator {
  const groups = Object.entries(functions).map(([group, names]) => [
    group,
    Object.fromEntries(names.map((name) => [name, (...args: readonly unknown[]) => send(`${group}.${name}`, args)])),
  ])
  // The other side is a community of the same version, whose functions these are.
  return Object.fromEntries(groups) as Operator
}
