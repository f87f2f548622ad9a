import { onTestFinished } from 'vitest'
import { combine } from '../../../../daemon/relay/events.ts'
import { startControl } from '../../../../daemon/relay/operate/control/control.ts'
import { controlToken } from '../../../../daemon/relay/operate/control/control-token.ts'
import { createMetrics } from '../../../../daemon/relay/operate/metrics.ts'
import { noteSettings, withdrawSettings } from '../../../../daemon/relay/operate/settings/settings-note.ts'
import type { Relay } from '../../../../daemon/relay/relay.ts'
import { bench, receiver, status } from '../support.ts'

/** A relay with its control, on a separate port. The control looks into the relay's outbox, unless another one is given. */
export async function controlled(respond = status(204), other?: string) {
  const hook = await receiver(respond)
  let relay: Relay | undefined
  const metrics = createMetrics(() => relay, '1.2.3')
  const notices: string[] = []
  const all = await bench({ retrySchedule: [0, 0.02] }, combine(metrics, { onNotice: ({ kind }) => notices.push(kind) }))
  relay = all.relay
  const onFault = (what: string, error: unknown) => all.faults.push([what, error])
  const outbox = other ?? all.directory
  const control = await startControl({ relay, metrics, outbox, port: 0, onFault })
  onTestFinished(() => control.close())
  noteSettings(outbox, { ...all.relay.settings, controlPort: control.port })
  onTestFinished(() => withdrawSettings(outbox))
  const token = controlToken(outbox)
  const ask = async (
    method: string,
    path: string,
    body?: object,
    headers: Record<string, string> = { authorization: `Bearer ${token}` },
  ) => {
    const response = await fetch(`http://127.0.0.1:${control.port}${path}`, {
      method,
      headers,
      ...(body ? { body: JSON.stringify(body) } : {}),
    })
    const text = await response.text()
    return { status: response.status, body: text.startsWith('{') ? JSON.parse(text) : text }
  }
  return { ...all, hook, ask, notices, port: control.port }
}
