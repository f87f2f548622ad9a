import * as v from 'valibot'
import { isoTime } from '../base/clock.ts'
import { firstAnswer, keepAnswer } from '../kernel/idempotency.ts'
import type { Transactions } from '../kernel/transactions.ts'
import type { Settings } from '../settings.ts'
import type { Id } from '../storage/table.ts'
import { checkArgument, NetworkName, shape } from './arguments.ts'
import type { Networks } from './networks.ts'

/**
 * Uses a key up: of any number of calls with it, in any process, one gets `true`. For forms that a browser may send twice.
 * @param use the network, by id or subdomain, and the key: 1 to 255 printable ASCII characters
 * @returns whether it is the first call with this key in 24 hours
 * @throws ApiError 404 when there is no such network, 422 for a key that cannot be one
 */
export type FirstUse = (use: {
  /** The network, by id or subdomain. */
  readonly network_id: Id | number
  /** 1 to 255 printable ASCII characters, such as an id that the form carries. */
  readonly key: string
}) => Promise<boolean>

// No API key and no host's name has a blank at its end, so these keys are apart from those of requests.
const caller = 'first use '

export function firstUseOf({ clock, limits }: Settings, transactions: Transactions, networks: Networks): FirstUse {
  const rule = 'must be 1 to 255 printable ASCII characters'
  const Use = shape({ network_id: NetworkName, key: v.pipe(v.string(rule), v.regex(/^[\x20-\x7e]{1,255}$/, rule)) })
  return async (given) => {
    const { network_id, key } = checkArgument('firstUse', Use, given, limits)
    const { id: network } = await networks.show(network_id)
    const now = isoTime(clock.now())
    const use = { caller, key, fingerprint: '' }
    return transactions.write(network, now, async (tx) => {
      if (await firstAnswer(tx, use, now)) return false
      const stamp = { id: transactions.newId(), created_at: now, updated_at: now }
      await keepAnswer(tx, use, { status: 200, body: '' }, stamp)
      return true
    })
  }
}
