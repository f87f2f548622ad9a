/** The relay inside of a host's process: the relay of `folkmoot-relay run`, without its signals, exit codes and output. */

import { version } from '../../adapters/version.ts'
import type { Tracing } from '../../lib/base/tracing.ts'
import { withoutPassword } from '../../lib/base/without-password.ts'
import type { Backlog } from '../../lib/outbox/source.ts'
import type { EndpointStatus, RelayAdmin } from '../../lib/relay/relay-admin.ts'
import { relayAdmin } from './admin/admin.ts'
import { embeddedBackend } from './admin/backend.ts'
import type { RelayEvents } from './events.ts'
import { unknownKind } from './ingest/outbox-address.ts'
import { foreignDirectory, mistakenDirectory } from './ingest/outbox-presence.ts'
import { startService } from './service.ts'
import { checkSettings, type Settings } from './settings.ts'

/** Settings as in the file of `--config`, and callbacks. */
export interface EmbeddedRelayOptions extends Partial<Omit<Settings, 'encryptionKeyFile' | 'telemetry'>>, RelayEvents {
  /**
   * The storage whose events it delivers, or the address of its outbox as for `--outbox`: a directory, `sqlite:PATH` or
   * `postgres://…`.
   */
  readonly storage: string | { readonly outbox?: string }
  /** The `encryptionKeys` of the community, each 32 bytes in base64. An endpoint that none of them decrypts is sent nothing. */
  readonly encryptionKeys?: readonly string[]
  /** Makes a span of each attempt, in the trace of its event: `await openTelemetry()` of `folkmoot/telemetry`. */
  readonly tracing?: Tracing
}

/** What a relay is doing now. */
export interface RelayStatus {
  /** Whether the outbox can be read and results can be recorded. */
  readonly ready: boolean
  /** The address of the outbox, without a password. */
  readonly outbox: string
  /** Attempts in flight. */
  readonly inFlight: number
  /** Milliseconds since everything in the outbox was ingested. */
  readonly behindForMs: number
  /** What is in the outbox and not ingested yet; null when the outbox cannot be read. */
  readonly backlog: Backlog | null
  /** The port of its control on the loopback address, with the setting `controlPort`. */
  readonly controlPort: number | null
  /** Every endpoint that it knows, of all networks. */
  readonly endpoints: readonly EndpointStatus[]
}

/** A relay in the process of the host. */
export interface EmbeddedRelay {
  /** Its state, as `folkmoot-relay status` shows it. @throws StorageError `unavailable` */
  status(): Promise<RelayStatus>
  /** Its figures in Prometheus's text form, for a route of yours. */
  metrics(): Promise<string>
  /** Deliveries and endpoints, for the option `relay` of `createPanel`. */
  readonly admin: RelayAdmin
  /**
   * Reads the file of `clientIdentities` and the files in it again, after a certificate was renewed.
   * @throws SettingsError and keeps the old ones
   */
  reload(): void
  /**
   * Ingests nothing more, waits for attempts in flight, and releases the outbox. Call it before you close the storage. An attempt that
   * does not end in time is aborted; the next relay sends it again. May be called again, with a shorter grace.
   * @param graceMs milliseconds, 15,000 by default
   */
  stop(graceMs?: number): Promise<void>
}

const known = (options: EmbeddedRelayOptions): string => {
  const { storage } = options
  const address = typeof storage === 'string' ? storage : storage?.outbox
  if (typeof address === 'string' && address !== '') {
    const problem = unknownKind(address)
    if (problem !== undefined) throw new TypeError(`startRelay: \`storage\` ${problem}`)
    const mistake = mistakenDirectory(address, '`storage`')
    if (mistake !== undefined) throw new TypeError(`startRelay: ${mistake}`)
    return address
  }
  const remedy = 'give the storage, or an address: a directory, sqlite:PATH or postgres://…'
  if (typeof storage !== 'object' || storage === null) throw new TypeError(`startRelay: \`storage\` is missing: ${remedy}`)
  if (storage instanceof Promise) throw new TypeError('startRelay: `storage` must be awaited, got a Promise')
  throw new TypeError(
    'startRelay: the storage has no outbox that a relay can open. A storage in memory or of lowdb needs one of `openOutbox`; for a pool of your own, give the address of the database',
  )
}

/** Without a listener, faults are on standard error: otherwise no one would see them. */
const reportFault = (what: string, error: unknown): void => console.error(`folkmoot relay: ${what}:`, error)

/**
 * Starts a relay in this process (interface.md, 11). It delivers the events of the outbox until `stop`.
 *
 * One process, one fate: while it is down nothing is delivered, and its load is the load of your server. `folkmoot-relay run` is the
 * better choice for production. One relay at a time reads a directory or a SQLite file; any number share a PostgreSQL database.
 * @throws TypeError for a missing storage or a malformed encryption key; SettingsError that names every unusable setting
 * @throws StorageError `locked` when another relay uses this outbox, `newer`, `damaged`, `unavailable`
 */
export async function startRelay(options: EmbeddedRelayOptions): Promise<EmbeddedRelay> {
  if (typeof options !== 'object' || options === null) throw new TypeError('startRelay expects options, such as { storage }')
  const outbox = known(options)
  const { storage: _, encryptionKeys = [], tracing, onAttempt, onNotice, onIngested, onFault = reportFault, ...given } = options
  if ('encryptionKeyFile' in given) throw new TypeError('startRelay reads no file of keys: give `encryptionKeys`')
  if ('telemetry' in given) throw new TypeError('startRelay loads no package: give `tracing: await openTelemetry()`')
  if (tracing !== undefined && typeof tracing.start !== 'function')
    throw new TypeError('startRelay: `tracing` must have a method start; give `await openTelemetry()` of folkmoot/telemetry')
  const settings = checkSettings(given)
  const events = {
    onFault,
    ...(onAttempt ? { onAttempt } : {}),
    ...(onNotice ? { onNotice } : {}),
    ...(onIngested ? { onIngested } : {}),
  }
  const foreign = typeof options.storage === 'string' ? foreignDirectory(outbox) : undefined
  const service = await startService({ outbox, settings, encryptionKeys, version, events, tracing })
  const { relay, metrics, controlPort } = service
  if (foreign !== undefined) onFault('the outbox may be a wrong directory', new Error(foreign))
  const admin = relayAdmin(outbox, embeddedBackend(relay))
  return {
    admin,
    async status() {
      const backlog = await relay.backlog().catch(() => null)
      return {
        ready: relay.ready,
        outbox: withoutPassword(outbox),
        inFlight: relay.scheduler.inFlight,
        behindForMs: relay.behindFor,
        backlog,
        controlPort,
        endpoints: (await admin.status({})).endpoints,
      }
    },
    metrics: () => metrics.text(),
    reload: () => service.reconfigure(settings, encryptionKeys),
    async stop(graceMs = 15_000) {
      await admin.close()
      await service.close(graceMs)
    },
  }
}
