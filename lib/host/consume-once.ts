import * as v from 'valibot'
import { isoTime } from '../base/clock.ts'
import { firstResponse, forgetResponse, storeResponse } from '../kernel/idempotency.ts'
import type { Transactions } from '../kernel/transactions.ts'
import type { Settings } from '../settings.ts'
import type { HostTx } from '../storage/scoped.ts'
import type { Id } from '../storage/table.ts'
import { checkArgument, NetworkName, shape } from './arguments.ts'
import type { Networks } from './networks.ts'

/**
 * Uses a key up: of any number of calls with it, in any process, one gets `true`. For forms that a browser may send twice.
 * @param use the network, by id or subdomain, and the key: 1 to 255 printable ASCII characters
 * @returns whether it is the first call with this key in 24 hours
 * @throws ApiError 404 when there is no such network, 422 for a key that cannot be one
 */
export type ConsumeOnce = (use: {
  /** The network, by id or subdomain. */
  readonly network: Id | number
  /** 1 to 255 printable ASCII characters, such as an id that the form carries. */
  readonly key: string
}) => Promise<boolean>

/**
 * Gives a key back that `consumeOnce` has used up, if nothing came of it: the next call with it is the first again.
 * @param use as in `consumeOnce`
 * @throws ApiError as `consumeOnce` does
 */
export type GiveBack = (use: Parameters<ConsumeOnce>[0]) => Promise<void>

// No API key and no host's name has a blank at its end, so these keys are apart from those of requests.
const caller = 'first use '

export function consumeOnceOf(
  { clock, limits }: Settings,
  transactions: Transactions,
  networks: Networks,
): { readonly consumeOnce: ConsumeOnce; readonly giveBack: GiveBack } {
  const rule = 'must be 1 to 255 printable ASCII characters'
  const Use = shape({ network: NetworkName, key: v.pipe(v.string(rule), v.regex(/^[\x20-\x7e]{1,255}$/, rule)) })
  async function useOf(call: string, given: Parameters<ConsumeOnce>[0]) {
    const { network: name, key } = checkArgument(call, Use, given, limits)
    const { id: network } = await networks.show(name)
    return { network, use: { caller, key, fingerprint: '' }, now: isoTime(clock.now()) }
  }
  return {
    async consumeOnce(given) {
      const { network, use, now } = await useOf('consumeOnce', given)
      const first = async (tx: HostTx) => {
        if (await firstResponse(tx, use, now)) return false
        const stamp = { id: transactions.newId(), created_at: now, updated_at: now }
        await storeResponse(tx, use, { status: 200, body: '' }, stamp)
        return true
      }
      // The forms of a relay work while the network is read-only; what any other form does is refused by itself.
      return transactions.write(network, now, first, true)
    },
    async giveBack(given) {
      const { network, use, now } = await useOf('giveBack', given)
      await transactions.write(network, now, (tx) => forgetResponse(tx, use), true)
    },
  }
}
