/** The visitors of the panel, as the host names them, and their permissions. */
import { kind } from '../../base/describe-value.ts'
import type { Id } from '../../storage/table.ts'

/** The changes that the panel offers. */
export const panelActions = [
  'keys.create',
  'keys.revoke',
  'members.add',
  'members.invite',
  'members.ban',
  'members.remove',
  'members.role',
  'members.unban',
  'members.erase',
  'members.import',
  'members.bulk',
  'members.export',
  'tags.create',
  'tags.update',
  'tags.merge',
  'tags.delete',
  'reports.close',
  'endpoints.create',
  'endpoints.update',
  'endpoints.rotate',
  'endpoints.reveal',
  'endpoints.pause',
  'endpoints.remove',
  'endpoints.test',
  'deliveries.resend',
  'network.read_only',
] as const

/** One kind of change in the panel. */
export type PanelAction = (typeof panelActions)[number]

/** A person with access, as `authorize` names them. */
export interface Visitor {
  /** A name for the audit, such as an e-mail address. */
  readonly actor: string
  /** The networks that the visitor sees, by id or subdomain; `'all'` for each one. */
  readonly networks: 'all' | readonly (Id | number)[]
  /** `'all'`: every change. `'read'`: none, every unsafe method is a 403. A list: only these changes. */
  readonly access: 'all' | 'read' | readonly PanelAction[]
  /** The network address of the visitor's client, for the audit. */
  readonly address?: string
}

/**
 * Decides about one request: the visitor, or null for no access. The host looks at its own session, and the panel keeps none.
 * `host` is the second argument of the panel. `panelMiddleware` gives the request of the framework, with its session.
 */
export type Authorize<Host = void> = (request: Request, host: Host) => Visitor | null | Promise<Visitor | null>

/** Whether the visitor may make a change. */
export const may = ({ access }: Visitor, action: PanelAction): boolean =>
  access === 'all' || (access !== 'read' && access.includes(action))

const text = (value: unknown): value is string => typeof value === 'string'

/**
 * The result of the host's function, checked: a mistake in it must close the panel, and never open it.
 * @throws TypeError that names the field
 */
export function checkedVisitor(given: unknown): Visitor | null {
  if (given === null || given === undefined || given === false) return null
  if (typeof given !== 'object' || Array.isArray(given))
    throw new TypeError(`authorize: return { actor, networks, access }, or null for a visitor without access; got ${kind(given)}`)
  const { actor, networks, access, address } = given as Partial<Record<keyof Visitor, unknown>>
  const problem = (field: string, rule: string) => new TypeError(`authorize: \`${field}\` must be ${rule}`)
  if (!text(actor) || actor === '' || actor.length > 500) throw problem('actor', 'a text of 1 to 500 characters')
  const isId = (id: unknown): id is Id | number => text(id) || typeof id === 'number'
  if (networks !== 'all' && !(Array.isArray(networks) && networks.every(isId)))
    throw problem('networks', "'all' or a list of ids and subdomains")
  const isAction = (name: unknown): name is PanelAction => panelActions.some((action) => action === name)
  if (access !== 'all' && access !== 'read' && !(Array.isArray(access) && access.every(isAction)))
    throw problem('access', `'all', 'read' or a list of ${panelActions.join(', ')}`)
  if (address !== undefined && !text(address)) throw problem('address', 'a text')
  return { actor, networks, access, ...(address === undefined ? {} : { address: address.slice(0, 100) }) }
}
