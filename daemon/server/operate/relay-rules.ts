/** Endpoints of a server that runs the relay itself: an address that this relay would always refuse is refused at registration. */
import { fail, invalid } from '../../../lib/errors.ts'
import type { HostCalls } from '../../../lib/index.ts'
import { type GuardSettings, refusalOf } from '../../relay/send/guard.ts'

const remedy =
  'Give an address that it may reach. For development, start the server with --demo --allow-http. For a service in a private network, run `folkmoot-relay run` with --allow-addresses, or with `ports` in its --config'

/** Begins every refusal. */
export const refusedByRelay = 'the relay of this server would refuse every delivery'

/** The same calls, of which those that register an endpoint or change its address check the address. */
export function withRelayRules<C extends Pick<HostCalls, 'endpoints' | 'by'>>(calls: C, settings: GuardSettings): C {
  const { endpoints, by } = calls

  /** An endpoint that has the address already may still be changed otherwise. @throws ApiError 422 */
  async function check(network: Parameters<typeof endpoints.list>[0], text: unknown): Promise<void> {
    const url = typeof text === 'string' ? URL.parse(text) : null
    const problem = url && refusalOf(url.href, settings)
    if (!url || !problem || (await endpoints.list(network)).some((endpoint) => endpoint.url === url.href)) return
    fail(invalid('url'), `url ${url.origin}${url.pathname}: ${refusedByRelay}, because ${problem}. ${remedy}`)
  }

  const upsert: typeof endpoints.upsert = async (endpoint) => {
    await check(endpoint.network, endpoint.url)
    return endpoints.upsert(endpoint)
  }
  const update: typeof endpoints.update = async (network, id, changes) => {
    await check(network, changes.url)
    return endpoints.update(network, id, changes)
  }
  const named = (actor: Parameters<typeof by>[0]) => withRelayRules(by(actor), settings)
  return { ...calls, endpoints: { ...endpoints, upsert, update }, by: named }
}
