/** The calls of commands to a community, by name: in their own process, or in a server over its control. */
import type { Community, HostCalls, Preview } from '../../../lib/index.ts'
import type { LinkWishes, PanelLink } from '../panel/mount.ts'

/** Every call of a command. One that is not here would work without a server, and fail with one running: the compiler refuses it. */
const names = [
  'networks.create',
  'networks.list',
  'networks.find',
  'networks.update',
  'keys.create',
  'keys.list',
  'keys.revoke',
  'endpoints.upsert',
  'endpoints.update',
  'endpoints.rotate',
  'endpoints.reveal',
  'endpoints.enable',
  'endpoints.disable',
  'endpoints.list',
  'endpoints.find',
  'endpoints.remove',
  'endpoints.republish',
  'members.list',
  'members.get',
  'members.ban',
  'members.import',
  'members.bulk',
  'members.remove',
  'members.changeRole',
  'members.unban',
  'members.erase',
  'members.exportPage',
  'tags.list',
  'tags.create',
  'tags.merge',
  'reports.list',
  'reports.close',
  'exportPage',
  'audit.list',
  'audit.record',
  'notify.emailConsent',
  'publish',
  'outbox',
  'addressWarning',
  'panelLink',
  'call',
  'previewOf',
] as const

/** The calls that change nothing. `call` does what the operation does that it names: commands only read with it. */
const reading: ReadonlySet<string> = new Set<(typeof names)[number]>([
  'networks.list',
  'networks.find',
  'keys.list',
  'endpoints.list',
  'endpoints.find',
  'members.list',
  'members.get',
  'tags.list',
  'reports.list',
  'audit.list',
  'outbox',
  'addressWarning',
  'call',
])

export const callNames: ReadonlySet<string> = new Set(names)

/** The functions of a group that have a call. */
type Called<Group extends keyof Community> = (typeof names)[number] extends infer Name
  ? Name extends `${Group}.${infer Own extends keyof Community[Group] & string}`
    ? Own
    : never
  : never

/** A preview without its result, but for the members whom an act for many would refuse. */
export interface ShownPreview extends Omit<Preview, 'result'> {
  readonly refusals?: readonly { readonly reason: string }[]
}

/** The calls whose reports a preview shows. */
const reporting: ReadonlySet<string> = new Set(['members.import', 'members.bulk'])

/** The part of a community that commands use, and the address of its outbox. */
export type Operator = {
  readonly [Group in 'networks' | 'keys' | 'endpoints' | 'members' | 'tags' | 'reports' | 'audit' | 'notify']: Pick<
    Community[Group],
    Called<Group>
  >
} & Pick<Community, 'call' | 'exportPage' | 'publish'> & {
    /** The value of `--outbox` for a relay. */
    outbox(): Promise<string>
    /** Why a relay may refuse the address of an endpoint; `undefined` if there is no reason, or if the relay is known to allow it. */
    addressWarning(url: string): Promise<string | undefined>
    previewOf(name: string, args: readonly unknown[]): Promise<ShownPreview>
  }

export type ServerOperator = Operator & {
  /** A link that lets one person into the panel, once. */
  panelLink(wishes: LinkWishes): Promise<PanelLink>
}

/** The operator inside of a server, which makes the calls of each command in the name of its user. */
export type ServedOperator = ServerOperator & Pick<Community, 'by'>

type AnyFunction = (...args: readonly unknown[]) => Promise<unknown>
type Tree = AnyFunction | { readonly [name: string]: Tree }

/**
 * Runs a call.
 * @param name one of `callNames`
 * @throws what the call throws
 */
export async function runCall(operator: object, name: string, args: readonly unknown[]): Promise<unknown> {
  if (!callNames.has(name)) throw new TypeError(`there is no call ${JSON.stringify(name)}`)
  let found = operator as unknown as Tree
  for (const part of name.split('.')) found = (found as Readonly<Record<string, Tree>>)[part] as Tree
  return (found as AnyFunction)(...args)
}

/**
 * Binds `previewOf`.
 * @param ruled refuses what the act would be refused
 */
export const previewsOf =
  ({ preview }: Pick<Community, 'preview'>, ruled = async (calls: HostCalls) => calls): Operator['previewOf'] =>
  async (name, args) => {
    const { result, ...shown } = await preview(async (calls) => runCall(await ruled(calls), name, args))
    return reporting.has(name) ? { ...shown, refusals: (result as Required<Pick<ShownPreview, 'refusals'>>).refusals } : shown
  }

/** What the first call that writes would change. It ends the command. */
export class Previewed extends Error {
  readonly preview: ShownPreview

  constructor(preview: ShownPreview) {
    super('the call is only previewed')
    this.preview = preview
  }
}

/** The same operator, which changes nothing. */
export const previewing = (operator: Operator): Operator =>
  operatorOver(async (name, args) => {
    if (reading.has(name)) return runCall(operator, name, args)
    throw new Previewed(await operator.previewOf(name, args))
  })

export function operatorOver(send: (name: string, args: readonly unknown[]) => Promise<unknown>): ServerOperator {
  const operator: Record<string, AnyFunction | Record<string, AnyFunction>> = {}
  for (const name of callNames) {
    const [group = '', own] = name.split('.')
    const made: AnyFunction = (...args) => send(name, args)
    operator[group] = own === undefined ? made : { ...operator[group], [own]: made }
  }
  // The other side is a community of the same version, whose functions these are.
  return operator as unknown as ServerOperator
}
