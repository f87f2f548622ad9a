import { isStorableId } from '../base/ids.ts'
import { hashToken, isToken } from '../base/token.ts'
import type { Principal } from '../context.ts'
import { accessError, fail, notFound } from '../errors.ts'
import { expired, hasEnded } from '../kernel/key.ts'
import { again } from '../kernel/transactions.ts'
import type { Settings } from '../settings.ts'
import type { Tx } from '../storage/contract.ts'
import type { Id } from '../storage/table.ts'
import { apiKeys, members, type NetworkRow, networks } from '../storage/tables.ts'
import { notesOfUse } from './notes-of-use.ts'

/** The caller, and the network. */
export interface Caller {
  readonly principal: Principal
  /** The caller's own network. */
  readonly network: NetworkRow
  /** Whether the path names that network. If not, the request is counted, and answered like an unknown network. */
  readonly isAddressed: boolean
  /** The key by which rate limits and idempotency keys are counted. */
  readonly countedBy: string
}

const unauthorized = (message: string) => accessError(401, 'unauthorized', message, { 'www-authenticate': 'Bearer' })
/**
 * The token of an `Authorization` header (specification, section 5, rule 1).
 * @throws ApiError 401 `unauthorized` if it is missing, doubled, or not a bearer token
 */
export function bearerToken(header: string | null): string {
  if (!header) throw unauthorized('Send the API token as `Authorization: Bearer <API_TOKEN>`.')
  const token = /^Bearer +([^\s,]{1,512}) *$/i.exec(header)?.[1]
  if (!token) throw unauthorized('The Authorization header must hold one bearer token.')
  return token
}

/**
 * Finds out who a token speaks for. Tokens are looked up on every request, so that a revoked one stops at once.
 */
export function authenticator(settings: Settings) {
  const { storage, clock } = settings
  const refusesFormer = settings.keysOfFormerMembers === 'refuse'
  const tokens = rememberTokens(1000)
  const uses = notesOfUse(settings)

  /**
   * @param token the bearer token
   * @param networkName the network as the path names it: an id or a subdomain
   * @throws ApiError 401 `unauthorized` or `token_expired`; 404 when the token's network does not exist
   */
  async function authenticate(token: string, networkName: string): Promise<Caller> {
    const host = settings.authenticate && (await settings.authenticate(token))
    if (host === 'expired') throw expired()
    const known = host ? undefined : tokens.get(token)
    const hash = host ? '' : (known?.hash ?? (await hashOf(token)))
    const now = clock.now()

    const look = async (tx: Tx) => {
      const probable = host?.network_id ?? known?.network_id
      // Both at once, where both are known to be wanted.
      const [[key], network] = await Promise.all([
        host ? [] : tx.find(apiKeys, { where: { token_hash: hash }, limit: 1 }),
        probable === undefined ? undefined : tx.get(networks, probable),
      ])
      const network_id = key?.network_id ?? host?.network_id
      const isFormer = key !== undefined && refusesFormer && (await tx.get(members, key.member_id))?.state !== 'active'
      const own = network_id === undefined || network_id === probable ? network : await tx.get(networks, network_id)
      return { key, network: own, isFormer }
    }
    const { key, network, isFormer } = await again(() => storage.transaction(look, { readOnly: true }))
    if (!host && !key) throw unauthorized('This API token is unknown.')
    if (key && (hasEnded(key, now) || isFormer)) throw expired()
    if (key) tokens.keep(token, { hash, network_id: key.network_id })
    if (!network) fail(notFound('Network'))
    const isAddressed = names(networkName, network)
    if (key && isAddressed) uses.note(key, now)
    const principal: Principal = key
      ? { key_id: key.id, member_id: key.member_id, scopes: key.scopes }
      : { key_id: null, member_id: host?.member_id ?? '', scopes: host?.scopes ?? [] }
    return { principal, network, isAddressed, countedBy: key?.id ?? host?.key ?? '' }
  }

  return { authenticate, settled: uses.settled }
}

/** @throws ApiError 401 `unauthorized` when the text cannot be a token: the storage is not asked */
async function hashOf(token: string): Promise<string> {
  if (!isToken(token)) throw unauthorized('This is not an API token of this service.')
  return hashToken(token)
}

const names = (name: string, network: NetworkRow): boolean =>
  isStorableId(name) ? name === network.id : name === network.subdomain

/** The unchanging facts of a token: its hash and its network. */
interface KnownToken {
  readonly hash: string
  readonly network_id: Id
}

/**
 * Remembers tokens that were found, so that a busy key is not hashed anew on each request. The rights of a key are never
 * cached.
 */
function rememberTokens(capacity: number) {
  const known = new Map<string, KnownToken>()
  return {
    get: (token: string): KnownToken | undefined => known.get(token),
    keep(token: string, found: KnownToken): void {
      if (known.size >= capacity && !known.has(token)) known.clear()
      known.set(token, found)
    },
  }
}
