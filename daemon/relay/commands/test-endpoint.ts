/** `folkmoot-relay endpoints test`: one delivery to see whether an endpoint can be reached. */
import { UsageError } from '../../usage.ts'
import { openOperatorStore } from '../backing.ts'
import { outboxOf, readSettings, type SettingFlags } from '../config.ts'
import { sendTest } from '../test-delivery.ts'
import type { Checked } from './check.ts'
import { jsonLines } from './output.ts'
import { userAgentOf } from './run.ts'

export interface TestFlags extends SettingFlags {
  readonly outbox?: string
  readonly network?: string
  readonly endpoint?: string
  readonly json?: boolean
}

/**
 * Sends a `TestHook` with the rules of every delivery, beside a running relay or without one. Nothing is recorded.
 * @throws UsageError when there is no such endpoint
 */
export async function testEndpoint(flags: TestFlags, version: string): Promise<Checked> {
  const outbox = outboxOf(flags.outbox)
  const settings = await readSettings(flags)
  const { network, endpoint: id } = flags
  if (network === undefined || id === undefined) throw new UsageError('endpoints test needs --network and --endpoint')
  const store = await openOperatorStore(outbox)
  const known = await store.knownEndpoints().finally(() => store.close())
  const found = known.find((endpoint) => endpoint.network_id === network && endpoint.id === id)
  if (!found) throw new UsageError(`the relay knows no endpoint ${id} of network ${network}`)

  const { result, status, reason, milliseconds } = await sendTest(found, settings, userAgentOf(version))
  const ok = result === 'delivered'
  if (flags.json) return { ok, text: jsonLines([{ outcome: result, status, reason, milliseconds }]) }
  return { ok, text: `${ok ? 'delivered' : `not delivered: ${result}`} (${reason}, ${milliseconds} ms)\n` }
}
