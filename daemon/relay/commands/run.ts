/** `folkmoot-relay run`: the relay as a service. */
import type { DestinationStream } from 'pino'
import { outboxOf, readSettings, type SettingFlags } from '../config.ts'
import { createLog } from '../log.ts'
import { startRelay } from '../relay.ts'

export interface RunFlags extends SettingFlags {
  readonly outbox?: string
  readonly controlPort?: string
  readonly json?: boolean
}

/** What a command may ask of the process that it runs in. */
export interface Host {
  /** Calls back at each of these signals. */
  onSignal(signal: 'SIGTERM' | 'SIGINT' | 'SIGHUP', done: () => void): void
  readonly output: DestinationStream
  /** Ends with exit code 1: something is wrong, though not with the command. */
  failed(): void
}

/** A service that is asked to stop has this long to end what is in flight, in milliseconds. */
const drainTime = 15_000

/**
 * Runs until SIGTERM or SIGINT, drains, and resolves; a second one aborts what is in flight. SIGHUP reads `--config` again.
 * @throws UsageError, StorageError when it cannot start
 */
export async function run(flags: RunFlags, host: Host): Promise<void> {
  const outbox = outboxOf(flags.outbox)
  const settings = await readSettings(flags)
  const log = createLog(host.output, flags.json === true)
  const relay = await startRelay({ ...log, outbox, settings })
  log.info(
    {
      outbox,
      attempts: settings.retrySchedule.length,
      timeout: settings.timeout,
      allowHttp: settings.allowHttp,
      allowPrivate: settings.allowPrivate,
    },
    'relay.started',
  )

  const { promise: stopped, resolve: stop, reject: fail } = Promise.withResolvers<void>()
  const close = (signal: string) => () => {
    log.info({ signal, inFlight: relay.scheduler.inFlight }, 'relay.stopping')
    relay.close(drainTime).then(stop, fail)
  }
  host.onSignal('SIGTERM', close('SIGTERM'))
  host.onSignal('SIGINT', close('SIGINT'))
  host.onSignal('SIGHUP', () => {
    readSettings(flags).then(
      (changed) => {
        relay.reconfigure(changed)
        log.info({}, 'relay.reloaded')
      },
      (error: unknown) => log.error({ reason: error instanceof Error ? error.message : String(error) }, 'relay.not_reloaded'),
    )
  })
  await stopped
  log.info({}, 'relay.stopped')
}
