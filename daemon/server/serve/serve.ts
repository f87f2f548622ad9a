/** The start of a server, step by step. */
import { toNodeListener } from '../../../adapters/http/node.ts'
import { refusedByDefault } from '../../../lib/base/reach.ts'
import type { Community, Options, RateLimiter } from '../../../lib/index.ts'
import type { RelayAdmin } from '../../../lib/relay/relay-admin.ts'
import type { Storage } from '../../../lib/storage/contract.ts'
import type { Output } from '../../output.ts'
import { portOf } from '../../port-of.ts'
import { missingSdk, tracingFor } from '../../telemetry.ts'
import { previewsOf } from '../control/calls.ts'
import { controlOf } from '../control/of-server.ts'
import type { Demo } from '../demo/start.ts'
import { withFaults } from '../faults/listener.ts'
import { withAssets } from '../http/assets.ts'
import { createFront, type Front } from '../http/front.ts'
import { withHome } from '../http/home.ts'
import { listen } from '../http/listen.ts'
import { type AuditInbox, auditInbox, refusedText } from '../operate/audit-inbox.ts'
import { createLog } from '../operate/log.ts'
import type { Metrics } from '../operate/metrics.ts'
import { warnOfUnreadable } from '../operate/unreadable.ts'
import { watcherOf } from '../operate/watcher.ts'
import { type PanelAddress, panelAddress } from '../panel/address.ts'
import { type LinkWishes, type MountedPanel, mountPanel } from '../panel/mount.ts'
import { openStorage } from '../storage/open.ts'
import { announce } from './announce.ts'
import { checkFlags } from './check-flags.ts'
import { grace, type Starting } from './parts.ts'
import { openRelay, withRulesOfRelay } from './relay.ts'
import type { ServeFlags } from './serve-flags.ts'
import { communityOf, httpsOf, openRateLimits } from './served-community.ts'
import { openUploads } from './uploads.ts'

export interface Running {
  readonly url: string
  /** Ends everything in an order that loses nothing; running requests have until the grace is over. */
  close(): Promise<void>
}

/**
 * The stand-alone API server: storage, API, and with `--relay` the relay in the same process.
 * @param version its relay names it to receivers
 * @throws UsageError, StorageError
 */
export async function serve(flags: ServeFlags, out: Output, version?: string): Promise<Running> {
  const checked = checkFlags(flags)
  const tracing = await tracingFor(flags.telemetry)
  const front = createFront()
  // The port first: if it is taken, nothing else was touched. Early requests get a 503 and can be repeated.
  const listening = await listen(front.listener, flags)
  const opened: (() => Promise<unknown>)[] = []
  const close = async () => {
    front.phase = 'ending'
    // First of all, nothing new comes in.
    await listening.close(grace)
    await closeAll(opened.splice(0).reverse())
  }
  const { url } = listening
  const log = createLog(out, flags.json ?? false)
  const untraced = tracing && (await missingSdk())
  if (untraced !== undefined) log.warn(untraced)
  const starting = {
    ...checked,
    out,
    log,
    version,
    tracing,
    url,
    onClose: (part: () => Promise<unknown>) => void opened.push(part),
  }
  try {
    await start(starting, front)
    return {
      url,
      close() {
        // For a person; a program that reads JSON has sent the signal itself, and reads an empty standard error as no fault.
        if (!flags.json) out.warn(`stopping: running requests have up to ${grace / 1000} seconds`)
        return close()
      },
    }
  } catch (error) {
    await close()
    throw error
  }
}

async function start(starting: Starting, front: Front): Promise<void> {
  const { flags, log, encryptionKeys, tracing } = starting
  const metrics = await openMetrics(starting, front)
  const { storage, outbox, rateLimiter } = await openStorages(starting)
  const assets = openUploads(flags, starting.onClose)
  const onError: OnError = (error, { ...about }) => {
    metrics?.fault()
    log.fault('in the API', error, about as Readonly<Record<string, unknown>>)
  }
  const own = communityOf({ storage, rateLimiter, assets, encryptionKeys, tracing, onError }, flags)
  starting.onClose(() => own.close())
  const inbox = inboxOf(starting, own, outbox)
  const community = inbox.over(await withRulesOfRelay(own, flags))
  await inbox.take()
  await warnOfUnreadable(storage, encryptionKeys, log.warn)

  const demo = await openDemo(starting, community, storage)
  const relay = await openRelay(starting, outbox)
  const address = panelAddress(flags, starting.url)
  const panel = openPanel(starting, community, relay, address, onError)
  const control = await openControl(starting, community, outbox, panel)

  serveRequests(starting, front, { community, panel, metrics, uploads: assets.directory })
  await announce(starting, { community, outbox, uploads: assets.directory, demo, metrics, panel, address, control })
  await openMaintenance(starting, community, inbox)
}

type OnError = NonNullable<NonNullable<Options['hooks']>['onError']>

async function openMetrics({ flags, onClose }: Starting, front: Front): Promise<Metrics | undefined> {
  if (flags.metricsPort === undefined) return undefined
  const { startMetrics } = await import('../operate/metrics.ts')
  const metrics = await startMetrics(flags.metricsPort, () => front.phase)
  onClose(() => metrics.close())
  return metrics
}

interface Storages {
  readonly storage: Storage
  readonly outbox: string
  readonly rateLimiter: RateLimiter
}

async function openStorages({ flags, log, onClose }: Starting): Promise<Storages> {
  const { storage, outbox } = await openStorage(flags.storage, flags.outbox, log.warn)
  onClose(() => storage.close())
  const rateLimiter = await openRateLimits(flags.storage, log.warn)
  onClose(async () => rateLimiter.close?.())
  return { storage, outbox, rateLimiter }
}

const inboxOf = ({ log }: Starting, community: Community, outbox: string): AuditInbox =>
  auditInbox(
    community,
    outbox,
    (files) => log.warn(refusedText(files)),
    (error) => log.fault('in the audit', error),
  )

async function openDemo(starting: Starting, community: Community, storage: Storage): Promise<Demo | undefined> {
  const { flags, webhookTokens, out, onClose } = starting
  if (!flags.demo) return undefined
  const { startDemo } = await import('../demo/start.ts')
  const demo = await startDemo(community, storage, flags, webhookTokens, out)
  onClose(async () => demo.receiver?.close())
  return demo
}

function openPanel(
  { flags, url }: Starting,
  community: Community,
  relay: RelayAdmin | undefined,
  address: PanelAddress,
  onError: OnError,
): MountedPanel {
  const parts = { community, relay, port: portOf(url), publicUrl: flags.publicUrl, ...httpsOf(flags), onError }
  return mountPanel(parts, address, toNodeListener(community, { bodyTimeoutMs: 120_000 }))
}

async function openControl({ flags, log, url, onClose }: Starting, community: Community, outbox: string, panel: MountedPanel) {
  const operator = {
    ...community,
    outbox: async () => outbox,
    // The relay of this process has refused what its settings do not allow.
    previewOf: previewsOf(community, (calls) => withRulesOfRelay(calls, flags)),
    addressWarning: async (address: string) => (flags.relay ? undefined : refusedByDefault(address)),
    panelLink: async (wishes: LinkWishes) => panel.link(wishes),
  }
  const control = await controlOf(operator, flags.storage, url, log)
  onClose(async () => control?.close())
  return control
}

interface ServingParts {
  readonly community: Community
  readonly panel: MountedPanel
  readonly metrics: Metrics | undefined
  readonly uploads: string
}

function serveRequests(
  { flags, faults, log }: Starting,
  front: Front,
  { community, panel, metrics, uploads }: ServingParts,
): void {
  metrics?.inFlight(community.inFlight)
  front.watcher = watcherOf({ operations: community.operations, metrics, access: flags.accessLog ? log.access : undefined })
  const listener = withHome(httpsOf(flags), withAssets(uploads, httpsOf(flags), panel.listener))
  front.next = faults ? withFaults(faults, listener) : listener
  front.phase = 'ready'
}

/** Its first time is minutes away, and loading its schedule takes a part of the whole start: it comes last. */
async function openMaintenance({ log, onClose }: Starting, community: Community, inbox: AuditInbox): Promise<void> {
  const { startMaintenance } = await import('../operate/maintenance.ts')
  const end = startMaintenance(community, inbox, log)
  onClose(async () => end())
}

/**
 * Closes one after the other. After one that fails, such as on a disk that has become read-only, the others are closed too.
 * @throws the first failure
 */
async function closeAll(parts: readonly (() => Promise<unknown>)[]): Promise<void> {
  const failures: unknown[] = []
  for (const close of parts) await close().catch((error: unknown) => failures.push(error))
  if (failures.length > 0) throw failures[0]
}
