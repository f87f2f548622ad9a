/** A relay with what makes it a service: metrics, control, and the note of its settings for commands. */
import type { Tracing } from '../../lib/base/tracing.ts'
import { combine, type RelayEvents } from './events.ts'
import { type Control, startControl } from './operate/control/control.ts'
import { createMetrics, type Metrics } from './operate/metrics.ts'
import { noteSettings, withdrawSettings } from './operate/settings/settings-note.ts'
import { type Relay, startRelay } from './relay.ts'
import type { Settings } from './settings.ts'

export interface RelayService {
  readonly relay: Relay
  readonly metrics: Metrics
  /** The port of its control, with the setting `controlPort`. */
  readonly controlPort: number | null
  /** @throws SettingsError, TypeError and keeps the old ones */
  reconfigure(settings: Settings, encryptionKeys: readonly string[]): void
  /**
   * Stops the relay, then its control. May be called again, with a shorter grace.
   * @param grace milliseconds for attempts in flight
   */
  close(grace: number): Promise<void>
}

export interface ServiceOptions {
  readonly outbox: string
  readonly settings: Settings
  readonly encryptionKeys: readonly string[]
  readonly version: string
  readonly events: RelayEvents
  readonly tracing?: Tracing | undefined
}

/** @throws as `startRelay`; UsageError when the port of the control is taken */
export async function startService(options: ServiceOptions): Promise<RelayService> {
  const { outbox, settings, encryptionKeys, version, events, tracing } = options
  const port = settings.controlPort
  let started: Relay | undefined
  const metrics = createMetrics(() => started, version)
  const combined = combine(events, metrics)
  const relay = await startRelay({ ...combined, outbox, settings, encryptionKeys, version, tracing })
  started = relay
  let control: Control | undefined
  try {
    if (port !== undefined) control = await startControl({ relay, metrics, outbox, port, onFault: combined.onFault })
  } catch (error) {
    await relay.close(0)
    throw error
  }
  const note = (given: Settings): void => noteSettings(outbox, { ...given, ...(control ? { controlPort: control.port } : {}) })
  note(settings)
  return {
    relay,
    metrics,
    controlPort: control?.port ?? null,
    reconfigure(changed, keys) {
      relay.reconfigure(changed, keys)
      note(changed)
    },
    async close(grace) {
      try {
        await relay.close(grace)
      } finally {
        withdrawSettings(outbox)
        await control?.close()
      }
    },
  }
}
