import { isStorableId } from '../../base/ids.ts'
import type { Principal } from '../../context.ts'
import { accessError, fail, notFound } from '../../errors.ts'
import { expired, hasEnded } from '../../kernel/key.ts'
import type { HostPrincipal, Settings } from '../../settings.ts'
import type { ApiKeyRow, NetworkRow } from '../../storage/tables/administration.ts'
import { notesOfUse } from './notes-of-use.ts'
import { type CallerRecheck, recheckOf, withCaller, workingRows } from './recheck-caller.ts'
import { type TokenRows, tokenRows } from './token-rows.ts'

export interface Caller {
  readonly principal: Principal
  readonly network: NetworkRow
  /** Whether the path names that network. If not, the request is counted, and gets the response of an unknown network. */
  readonly isAddressed: boolean
  /** The key by which rate limits and idempotency keys are counted. */
  readonly countedBy: string
  /** Set if the caller is remembered from an earlier request, and has to be confirmed. */
  readonly recheck?: CallerRecheck
  /** To be called after a request of a caller who is remembered: notes that the key was used. */
  readonly ended?: () => void
}

/** What a request shows of its caller. */
interface Credentials {
  readonly token: string
  /** The network as the path names it: an id or a subdomain. */
  readonly network: string
  /** Whether the rows of the token are read before anything else. */
  readonly fresh: boolean
}

const unauthorized = (message: string) => accessError(401, 'unauthorized', message, { 'www-authenticate': 'Bearer' })
/**
 * The token of an `Authorization` header (interface.md, 5.1).
 * @throws ApiError 401 `unauthorized` if it is missing, doubled, or not a bearer token
 */
export function bearerToken(header: string | null): string {
  if (!header) throw unauthorized('Send the API token as `Authorization: Bearer <API_TOKEN>`.')
  const token = /^Bearer +([^\s,]{1,512}) *$/i.exec(header)?.[1]
  if (!token) throw unauthorized('The Authorization header must hold one bearer token.')
  return token
}

/** Finds out who a token speaks for. */
export function authenticator(settings: Settings) {
  const { clock, keysOfFormerMembers } = settings
  const rows = tokenRows(settings)
  const uses = notesOfUse(settings)

  /** @returns the caller synchronously where nothing has to be looked up */
  function authenticate(token: string, networkName: string, fresh: boolean): Caller | Promise<Caller> {
    const current = settings.authenticate ? undefined : rows.current(token)
    return current ? callerOf(current, networkName) : lookUp(token, networkName, fresh)
  }

  async function lookUp(token: string, networkName: string, fresh: boolean): Promise<Caller> {
    const host = settings.authenticate && (await settings.authenticate(token))
    if (host === 'expired') throw expired()
    const known = host || fresh ? undefined : rememberedCaller(token, networkName)
    if (known) return known
    const found = await (host ? rows.ofHost(host) : rows.of(token))
    if (!found) throw unauthorized('This is not an API token of this service.')
    return callerOf(found, networkName, host || undefined)
  }

  /** @param host the caller, if the host has recognised the token */
  function callerOf({ key, network, isFormer }: TokenRows, networkName: string, host?: HostPrincipal): Caller {
    if (!host && !key) throw unauthorized('This API token is unknown.')
    const now = clock.now()
    if (key && (hasEnded(key, now) || isFormer)) throw expired()
    if (!network) fail(notFound('Network'))
    const isAddressed = names(networkName, network)
    if (key && isAddressed) uses.note(key, now)
    const principal: Principal = key
      ? principalOf(key)
      : { key_id: null, member_id: host?.member_id ?? '', scopes: host?.scopes ?? [] }
    return { principal, network, isAddressed, countedBy: key?.id ?? host?.key ?? '' }
  }

  /** The caller of an earlier request with this token, if its key seems to work. */
  function rememberedCaller(token: string, networkName: string): Caller | undefined {
    const last = rows.remembered(token)
    const working = last && workingRows(last, clock.now())
    if (!working) return undefined
    const { key, network } = working
    const isAddressed = names(networkName, network)
    const recheck = recheckOf(working, () => rows.of(token), {
      refusesFormer: keysOfFormerMembers === 'refuse',
      now: () => clock.now(),
    })
    const ended = () => {
      if (isAddressed && recheck.isConfirmed()) uses.note(key, clock.now())
    }
    return { principal: principalOf(key), network, isAddressed, countedBy: key.id, recheck, ended }
  }

  return {
    /**
     * Runs a request for the caller of its token.
     * @param headers those of the response
     * @throws ApiError 401 `unauthorized` or `token_expired`; 404 when the token's network does not exist
     */
    withCaller: <T>(sent: Credentials, headers: Record<string, string>, run: (caller: Caller) => Promise<T>): Promise<T> =>
      withCaller((fresh) => authenticate(sent.token, sent.network, fresh || sent.fresh), headers, run),
    /**
     * Whether a token works, by rows that are read now.
     * @throws ApiError as a request with this token would
     */
    async requireWorking(token: string): Promise<void> {
      await authenticate(token, '', true)
    },
    settled: uses.settled,
  }
}

const principalOf = ({ id, member_id, scopes }: ApiKeyRow): Principal => ({ key_id: id, member_id, scopes })

const names = (name: string, network: NetworkRow): boolean =>
  isStorableId(name) ? name === network.id : name === network.subdomain
