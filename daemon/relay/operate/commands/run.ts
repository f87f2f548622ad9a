/** `folkmoot-relay run`: the relay as a service. */
import type { DestinationStream } from 'pino'
import { withoutPassword } from '../../../../lib/base/without-password.ts'
import type { Paint } from '../../../output.ts'
import { encryptionKeysOf } from '../../../read-encryption-keys.ts'
import { missingSdk, tracingFor } from '../../../telemetry.ts'
import { about, UsageError } from '../../../usage.ts'
import { systemClock } from '../../clock.ts'
import { placeOf } from '../../ingest/outbox-address.ts'
import { foreignDirectory, missingOutbox } from '../../ingest/outbox-presence.ts'
import { stuckLimit } from '../../relay.ts'
import { shownProxy } from '../../send/proxy.ts'
import { startService } from '../../service.ts'
import { createLog, type Log } from '../log.ts'
import { outboxOf, readSettings, type SettingFlags } from '../settings/read-settings.ts'
import { createNotifier, type ServiceManager } from '../systemd.ts'

export interface RunFlags extends SettingFlags {
  readonly outbox?: string
  readonly json?: boolean
}

/** The parts of the process that a command may use. */
export interface Host {
  onSignal(signal: 'SIGTERM' | 'SIGINT' | 'SIGHUP', done: () => void): void
  readonly output: DestinationStream
  /** Columns for tables: those of the terminal, `Infinity` for a pipe; 100 by default. */
  readonly width?: number
  readonly paint?: Paint
  readonly paintError?: Paint
  /** Shows how far a long command is, to a person. */
  progress(done: number, of: number): void
  /** Ends with exit code 1: something is wrong, though not with the command. */
  failed(): void
  readonly serviceManager: ServiceManager
  readonly version: string
  /** The content of the variable of the encryption keys. */
  readonly encryptionKeys?: string | undefined
  /** The content of the variable NO_PROXY. */
  readonly noProxy?: string | undefined
  /** Whether errors are JSON. */
  readonly json: boolean
}

/** Milliseconds for attempts in flight once a service is stopping. */
const drainTime = 15_000

/**
 * A directory may be made before the API server writes to it, and a database before it has its tables. A SQLite file is made by the
 * API server alone: a name that is not there is a mistake.
 */
async function expectOutbox(outbox: string, log: Log): Promise<void> {
  const missing = await missingOutbox(outbox)
  const foreign = missing ? undefined : foreignDirectory(outbox)
  if (foreign !== undefined) log.warn({ text: foreign }, 'outbox.foreign')
  if (missing === undefined) return
  if (!missing.absent || placeOf(outbox).kind === 'sqlite') throw about(new UsageError(missing.text), 'outbox')
  log.warn({ text: `${missing.text}. It is made now, and the relay waits for events` }, 'outbox.missing')
}

/**
 * Runs until SIGTERM or SIGINT, drains, and resolves; a second signal aborts the attempts in flight. SIGHUP reads `--config`
 * and the encryption keys again.
 * @throws UsageError, StorageError when it cannot start
 */
export async function run(flags: RunFlags, host: Host): Promise<void> {
  const outbox = outboxOf(flags.outbox)
  const settings = await readSettings(flags)
  const encryptionKeys = encryptionKeysOf({ ...flags, ...settings })
  const tracing = await tracingFor(settings.telemetry)
  const log = createLog(host.output, flags.json === true)
  const untraced = tracing && (await missingSdk())
  if (untraced !== undefined) log.warn({ text: untraced }, 'telemetry.missing')
  await expectOutbox(outbox, log)
  const service = await startService({ outbox, settings, encryptionKeys, version: host.version, events: log, tracing })
  const { relay } = service
  const notifier = createNotifier(host.serviceManager, systemClock, () => relay.stuckFor < stuckLimit)

  const { promise: stopped, resolve: stop, reject: fail } = Promise.withResolvers<void>()
  const close = (signal: string) => () => {
    log.info({ signal, inFlight: relay.scheduler.inFlight }, 'relay.stopping')
    notifier.stopping()
    service.close(drainTime).then(stop, fail)
  }
  host.onSignal('SIGTERM', close('SIGTERM'))
  host.onSignal('SIGINT', close('SIGINT'))
  host.onSignal('SIGHUP', () => {
    readSettings(flags)
      .then((changed) => {
        service.reconfigure(changed, encryptionKeysOf({ ...flags, ...changed }))
        notifier.reloading()
        log.info({}, 'relay.reloaded')
      })
      .catch((error: unknown) =>
        log.error({ reason: error instanceof Error ? error.message : String(error) }, 'relay.not_reloaded'),
      )
  })

  const { retrySchedule, timeout, allowHttp, allowPrivate, allowAddresses, proxy, sourceAddress } = settings
  const shown = {
    outbox: withoutPassword(outbox),
    attempts: retrySchedule.length,
    timeout,
    allowHttp,
    allowPrivate,
    ...(allowAddresses.length > 0 ? { allowAddresses: allowAddresses.join(',') } : {}),
    ...(proxy === undefined ? {} : { proxy: shownProxy(proxy) }),
    ...(sourceAddress === undefined ? {} : { sourceAddress }),
    control: service.controlPort,
  }
  log.info(shown, 'relay.started')
  notifier.ready()
  try {
    await stopped
  } finally {
    notifier.close()
  }
  log.info({}, 'relay.stopped')
}
