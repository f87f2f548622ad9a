/**
 * The relay: reads an outbox and delivers its events as webhooks, at least once (interface.md, 11).
 *
 * It runs as a separate service or inside another process: it touches no signals, no exit codes and no streams.
 */
import { errorCode, fileError } from '../../adapters/files/errors.ts'
import type { Tracing } from '../../lib/base/tracing.ts'
import { keyRing } from '../../lib/outbox/encryption.ts'
import type { Backlog, OutboxSource } from '../../lib/outbox/source.ts'
import { type Clock, timeline as createTimeline, systemClock } from './clock.ts'
import type { RelayContext } from './context.ts'
import { type RelayEvents, safely } from './events.ts'
import { startIngest } from './ingest/ingest.ts'
import { type Maintenance, startMaintenance } from './maintenance.ts'
import { openOperatorStore, openStore } from './open-store.ts'
import { createPollLoop } from './poll-loop.ts'
import { createScheduler, type Scheduler, storeGrace } from './schedule/scheduler.ts'
import type { Resolve } from './send/guard.ts'
import type { ProxyNews } from './send/proxy-gate.ts'
import { systemResolve } from './send/resolve.ts'
import { createSender, userAgentOf } from './send/sender.ts'
import { checkSourceAddress } from './send/source-address.ts'
import { readTlsFiles, type TlsFiles, tlsProblem } from './send/tls-files.ts'
import { checkSettings, type Settings } from './settings.ts'
import type { Endpoint } from './store/endpoint/relay-endpoint.ts'
import type { SeparateStore } from './store/separate-store.ts'
import type { Recovered, RelayStore } from './store/store.ts'

export interface RelayOptions extends RelayEvents {
  /** The outbox: a directory, `sqlite:PATH` or `postgres://…`. */
  readonly outbox: string
  /** Settings over the defaults; see `Settings`. */
  readonly settings?: Partial<Settings>
  /**
   * The keys that decrypt tokens and signing secrets of endpoints: the `encryptionKeys` of the communities that write to the
   * outbox, each 32 bytes in base64. An endpoint that none of them decrypts is sent nothing, and its deliveries wait.
   */
  readonly encryptionKeys?: readonly string[]
  /** Makes a span of each attempt. */
  readonly tracing?: Tracing | undefined
  /** Receivers see it behind the name `folkmoot-relay`. */
  readonly version?: string | undefined
  /** For tests, and for outboxes that are no directories. */
  readonly source?: OutboxSource
  readonly store?: SeparateStore
  readonly clock?: Clock
  readonly resolve?: Resolve
  readonly random?: () => number
}

export interface Relay {
  readonly settings: Settings
  readonly userAgent: string
  readonly scheduler: Scheduler
  readonly store: RelayStore
  readonly maintenance: Maintenance
  /** The relay's timeline: milliseconds since 1970 that never go back. */
  now(): number
  /** Whether the outbox can be read and results can be recorded. */
  readonly ready: boolean
  /** The client certificates and private authorities that endpoints may name. */
  readonly tlsFiles: TlsFiles
  /** Whether the proxy works, as far as is known; `undefined` without a proxy. */
  readonly proxyWorks: boolean | undefined
  /** Milliseconds since everything that stood in the outbox had been ingested; since the start, if it never had. */
  readonly behindFor: number
  /** The amount in the outbox that is not ingested. Fails when the outbox cannot be read. */
  backlog(): Promise<Backlog>
  /** Milliseconds that the scheduler has been at one tick; small as long as all is well. For a watchdog. */
  readonly stuckFor: number
  /**
   * Replaces the settings for everything that begins from now on, and the encryption keys where they are given.
   * @throws SettingsError, TypeError and keeps the old ones
   */
  reconfigure(settings: Partial<Settings>, encryptionKeys?: readonly string[]): void
  /**
   * Ingests nothing more, waits for attempts in flight, and releases everything. An attempt that does not end in time is
   * aborted. It uses up no attempt and is sent again by the next relay. May be called again, with a shorter grace.
   * @param grace milliseconds, 15 s by default; a store that does not respond adds 3 s at most
   */
  close(grace?: number): Promise<void>
}

/** No second attempt is in flight for so long that this would be too short: it is longer than any time-out. */
const defaultGrace = 15_000
/** What a database that does not respond has to itself is left behind so many milliseconds after everything else. */
const closeGrace = 1000
/** A relay that is at one tick for longer than this, in milliseconds, is not alive. */
export const stuckLimit = 30_000

/** Whether the disk or SQLite refused, as opposed to a bug. */
const isSystems = (error: unknown): boolean => /^(E[A-Z]+|ERR_SQLITE_ERROR)$/.test(errorCode(error))

/**
 * Starts a relay. Events before an endpoint in the outbox are not sent to it. If several processes write concurrently, the order in
 * which their records are ingested decides.
 * @throws SettingsError, TypeError for a malformed encryption key, StorageError `locked` when another relay uses this outbox,
 * `newer`, `damaged`, `unavailable`
 */
export async function startRelay(options: RelayOptions): Promise<Relay> {
  const { clock = systemClock, random = Math.random } = options
  const userAgent = userAgentOf(options.version)
  let settings = checkSettings({ ...options.settings })
  const current = (): Settings => settings
  const events = safely(options)
  const { outbox, source, encryptionKeys = [] } = options
  keyRing(encryptionKeys)
  await checkSourceAddress(settings)
  let tlsFiles = readTlsFiles(settings.clientIdentities)
  const opened = await openStore({ outbox, clock, settings: current, source, store: options.store })
  const { store, intake } = opened
  try {
    return run(await store.recover(clock.now()))
  } catch (error) {
    await intake.close().catch(() => undefined)
    await opened.close().catch(() => undefined)
    throw isSystems(error) ? fileError('the relay cannot start', error) : error
  }

  function run(recovered: Recovered): Relay {
    const timeline = createTimeline({ ...clock, now: () => clock.now() + store.skew }, recovered.time)
    const onProxyNews = (news: ProxyNews): void => scheduler.proxyChanged(news)
    const sender = createSender(current, clock, options.resolve ?? systemResolve(), userAgent, {
      onProxyNews,
      tlsFiles: () => tlsFiles,
    })
    const lacking = (endpoint: Endpoint): string | undefined => tlsProblem(endpoint, tlsFiles, clock.now())
    const context: RelayContext = { clock, timeline, settings: current, events }
    const { tracing } = options
    const scheduler = createScheduler({ ...context, store, sender, random, encryptionKeys, lacking, tracing }, recovered)
    for (const notice of recovered.notices) events.onNotice(notice)
    // What others change in the store: the command line, and the relays that share it.
    const watcher = createPollLoop({
      clock,
      async step() {
        const changes = await store.poll()
        if (changes) scheduler.follow(changes)
        return false
      },
      failed: (error) => events.onFault('the relay store cannot be polled', error),
      watch: (hint) => store.watch(hint),
    })
    const ingest = startIngest({
      ...context,
      intake,
      onIngested(ingested) {
        scheduler.ingested(ingested)
        watcher.hint()
      },
    })

    const maintenance = startMaintenance({ ...context, store, scheduler, openOperator: () => openOperatorStore(outbox) })

    let closing: Promise<void> | undefined
    async function close(grace: number): Promise<void> {
      const { promise: late, resolve } = Promise.withResolvers<void>()
      const cancel = clock.timer(grace + storeGrace + closeGrace, resolve)
      await Promise.race([release(grace), late])
      cancel()
    }

    async function release(grace: number): Promise<void> {
      // Nothing more is started from now on, or what a second call aborts would be sent again while the outbox is read to its end.
      await Promise.all([scheduler.stop(grace), ingest.stop(), maintenance.stop()])
      await watcher.stop()
      await sender.close()
      await intake.close().catch((error: unknown) => events.onFault('the outbox cannot be closed', error))
      await opened.close()
    }

    return {
      get settings() {
        return settings
      },
      userAgent,
      scheduler,
      store,
      maintenance,
      now: timeline,
      get ready() {
        const moving = scheduler.stuckFor < stuckLimit
        return ingest.healthy && watcher.healthy && scheduler.healthy && moving && closing === undefined
      },
      get tlsFiles() {
        return tlsFiles
      },
      get proxyWorks() {
        return settings.proxy === undefined ? undefined : !sender.proxy.isDown
      },
      get behindFor() {
        return ingest.behindFor
      },
      backlog: () => intake.backlog(),
      get stuckFor() {
        return scheduler.stuckFor
      },
      reconfigure(given, keys) {
        const checked = checkSettings({ ...given })
        const files = readTlsFiles(checked.clientIdentities, clock.now())
        if (keys) scheduler.rekey(keys)
        settings = checked
        tlsFiles = files
        sender.reload()
        scheduler.reread()
        scheduler.reconsider()
      },
      close(grace = defaultGrace) {
        // Called again, it aborts what the first call still waits for.
        if (closing) sender.abort('shutting down')
        closing ??= close(grace)
        return closing
      },
    }
  }
}
