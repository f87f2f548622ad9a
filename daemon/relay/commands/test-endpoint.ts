/** `folkmoot-relay endpoints test`: one delivery to see whether an endpoint can be reached. */

import { jsonLines } from '../../json.ts'
import { UsageError } from '../../usage.ts'
import { openOperatorStore } from '../backing.ts'
import { systemClock } from '../clock.ts'
import { outboxOf, readSettings, type SettingFlags } from '../config.ts'
import { sendTest } from '../test-delivery.ts'
import type { Checked } from './check.ts'
import { findEndpoint } from './find-endpoint.ts'
import { userAgentOf } from './run.ts'

export interface TestFlags extends SettingFlags {
  readonly outbox?: string
  readonly network?: string
  readonly endpoint?: string
  readonly json?: boolean
}

/**
 * Sends a `TestHook` with the rules of every delivery, beside a running relay or without one. Nothing is recorded but that an open
 * circuit is closed when it was delivered.
 * @throws UsageError when there is no such endpoint
 */
export async function testEndpoint(flags: TestFlags, version: string): Promise<Checked> {
  const outbox = outboxOf(flags.outbox)
  const settings = await readSettings(flags)
  const { network, endpoint: id } = flags
  if (network === undefined || id === undefined) throw new UsageError('endpoints test needs --network and --endpoint')
  const store = await openOperatorStore(outbox)
  try {
    const { endpoint, circuit } = await findEndpoint(store, id, network)
    const { result, status, reason, milliseconds } = await sendTest(endpoint, settings, userAgentOf(version))
    const ok = result === 'delivered'
    const closes = ok && circuit === 'open'
    // It is as good as a probe.
    if (closes) await store.startAfresh(endpoint.ref, systemClock.now())
    if (flags.json) return { ok, text: jsonLines([{ outcome: result, status, reason, milliseconds, closed_circuit: closes }]) }
    const said = `${ok ? 'delivered' : `not delivered: ${result}`} (${reason}, ${milliseconds} ms)`
    return { ok, text: `${said}${closes ? '; its circuit is closed, sending goes on' : ''}\n` }
  } finally {
    await store.close()
  }
}
