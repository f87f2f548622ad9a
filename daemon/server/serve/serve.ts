import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { makeDirectory } from '../../../adapters/files/directory.ts'
import { errorCode } from '../../../adapters/files/errors.ts'
import { toNodeListener } from '../../../adapters/http/node.ts'
import { withoutPassword, withPasswordLeftOut } from '../../../adapters/sql/postgres/address.ts'
import { refusedByDefault } from '../../../lib/base/reach.ts'
import type { Community } from '../../../lib/index.ts'
import { isPublicUrl } from '../../../lib/options.ts'
import { closeAll } from '../../close-all.ts'
import type { Output } from '../../output.ts'
import { encryptionKeysOf } from '../../read-encryption-keys.ts'
import type { Relay, RelayOptions } from '../../relay/relay.ts'
import { UsageError } from '../../usage.ts'
import { controlOf } from '../control/of-server.ts'
import { secretsOf } from '../credentials/secrets.ts'
import { demoNetwork } from '../demo/made.ts'
import { withFaults } from '../faults/listener.ts'
import { describePlan, planOf } from '../faults/plan.ts'
import { assetsPath, withAssets } from '../http/assets.ts'
import { createFront, type Front } from '../http/front.ts'
import { withHome } from '../http/home.ts'
import { listen } from '../http/listen.ts'
import { portOf } from '../http/port-of.ts'
import { auditInbox, refusedText } from '../operate/audit-inbox.ts'
import { createLog, type Log } from '../operate/log.ts'
import type { Metrics } from '../operate/metrics.ts'
import { warnOfUnreadable } from '../operate/unreadable.ts'
import { watcherOf } from '../operate/watcher.ts'
import { panelAddress } from '../panel/address.ts'
import { type LinkWishes, mountPanel } from '../panel/mount.ts'
import { checkRelayFlags, type SeparateRelay, separateRelay } from '../panel/separate-relay.ts'
import { assetsDirectory, openStorage } from '../storage/open.ts'
import { openRateLimits } from '../storage/rate-limits.ts'
import { banner } from './banner.ts'
import type { ServeFlags } from './serve-flags.ts'
import { communityOf, guardOf, httpsOf, reach } from './served-community.ts'

/** A server that runs. */
export interface Running {
  readonly url: string
  /** Ends everything in an order that loses nothing; running requests have until the grace is over. */
  close(): Promise<void>
}

/** Milliseconds that running requests and deliveries have when the server ends. */
const grace = 10_000

/**
 * The stand-alone API server: storage, API, and with `--relay` the relay in the same process.
 * @param version its relay names it to receivers
 * @throws UsageError, StorageError
 */
export async function serve(flags: ServeFlags, out: Output, version?: string): Promise<Running> {
  const webhookKeys = secretsOf('--webhook-key', flags.webhookKey, flags.webhookKeyFile)
  if (flags.webhookUrl.length !== webhookKeys.length)
    throw new UsageError('--webhook-url goes with --webhook-key or --webhook-key-file: give as many keys as addresses')
  if (flags.publicUrl !== undefined && !isPublicUrl(flags.publicUrl))
    throw new UsageError(
      `--public-url must be like https://api.example.org, without a trailing slash, got ${JSON.stringify(flags.publicUrl)}`,
    )
  if (flags.webhookOrder !== undefined && flags.webhookUrl.length === 0)
    throw new UsageError('--webhook-order needs --webhook-url')
  if (flags.webhookUrl.length > 0 && !flags.demo)
    throw new UsageError('--webhook-url registers endpoints of the demo network: add --demo')
  checkRelayFlags(flags)
  const encryptionKeys = encryptionKeysOf(flags)
  const faults = planOf(flags)

  const log = createLog(out, flags.json ?? false)
  const files = filesOf(flags)
  const front = createFront()
  // The port first: if it is taken, nothing else was touched. Early requests are asked to come again.
  const listening = await listen(front.listener, flags)
  // Everything opened is closed in the opposite order, also when a later step fails. First of all, nothing new comes in.
  const opened: (() => Promise<unknown>)[] = []
  const close = async () => {
    front.phase = 'ending'
    await listening.close(grace)
    await closeAll(opened.splice(0).reverse())
  }
  try {
    const metrics = await metricsOf(flags, front)
    if (metrics) opened.push(() => metrics.close())
    const { storage, outbox } = await openStorage(flags.storage, flags.outbox, log.warn)
    opened.push(() => storage.close())
    const rateLimiter = await openRateLimits(flags.storage, log.warn)
    opened.push(async () => rateLimiter.close?.())
    if (!flags.assets && flags.storage === 'memory:') opened.push(() => rm(files, { recursive: true, force: true }))
    if (flags.assets) requireDirectory('--assets', files)
    const assets = { directory: files, baseUrl: assetsPath }
    const onError = (error: unknown, { ...about }: object) => {
      metrics?.fault()
      log.fault('in the API', error, about as Readonly<Record<string, unknown>>)
    }
    const own = communityOf({ storage, rateLimiter, assets, encryptionKeys, onError }, flags)
    opened.push(() => own.close())
    const inbox = auditInbox(
      own,
      outbox,
      (files) => log.warn(refusedText(files)),
      (error) => log.fault('in the audit', error),
    )
    const community = inbox.over(flags.relay ? await ruled(own, flags) : own)
    await inbox.take()
    await warnOfUnreadable(storage, encryptionKeys, log.warn)

    const demo = flags.demo
      ? await (await import('../demo/start.ts')).startDemo(community, storage, flags, webhookKeys, out)
      : undefined
    opened.push(async () => demo?.receiver?.close())
    let view: SeparateRelay | undefined
    if (flags.relay) {
      const relay = await startRelayOf(flags, { outbox, encryptionKeys, version }, log)
      const { noteSettings, withdrawSettings } = await import('../../relay/operate/settings-note.ts')
      noteSettings(outbox, relay.settings)
      opened.push(async () => {
        withdrawSettings(outbox)
        await relay.close(grace)
      })
      const { relayViewOf } = await import('../../relay/operate/view/of-relay.ts')
      const ofRelay = relayViewOf(relay, outbox)
      view = { view: ofRelay, close: () => ofRelay.close() }
    } else view = await separateRelay(outbox, flags)
    opened.push(async () => view?.close())
    const address = panelAddress(flags, listening.url)
    const panel = mountPanel(
      {
        community,
        relay: view?.view,
        port: portOf(listening.url),
        publicUrl: flags.publicUrl,
        ...httpsOf(flags),
        onError,
      },
      address,
      toNodeListener(community, { bodyTimeoutMs: 120_000 }),
    )
    const operator = {
      ...community,
      outbox: async () => outbox,
      // The relay of this process has refused what its settings do not allow.
      addressWarning: async (url: string) => (flags.relay ? undefined : refusedByDefault(url)),
      panelLink: async (wishes: LinkWishes) => panel.link(wishes),
    }
    const control = await controlOf(operator, flags.storage, listening.url, log)
    opened.push(async () => control?.close())

    metrics?.inFlight(community.inFlight)
    front.watcher = watcherOf({ operations: community.operations, metrics, access: flags.accessLog ? log.access : undefined })
    const listener = withHome(httpsOf(flags), withAssets(files, httpsOf(flags), panel.listener))
    front.next = faults ? withFaults(faults, listener) : listener
    front.phase = 'ready'
    const facts = {
      url: listening.url,
      network_id: demo ? demoNetwork.id : null,
      subdomain: demo ? demoNetwork.subdomain : null,
      token: demo?.token ?? null,
      outbox: withPasswordLeftOut(outbox),
      assets: files,
      control: control?.file ?? null,
      // Others read standard output, too: without the demo, programs ask for a link over the control.
      panel: (demo || !flags.json) && address.closed === undefined ? panel.link().url : null,
    }
    out.line(
      flags.json
        ? JSON.stringify({ ...facts, ...(faults ? { faults } : {}) })
        : banner({
            ...facts,
            storage: withoutPassword(flags.storage),
            outbox: withoutPassword(outbox),
            panelHint: address.hint ?? null,
            secured: Boolean(flags.tlsCert || flags.allowHttp || flags.trustProxy),
            receiver: demo?.receiver?.url ?? null,
            faults: faults ? describePlan(faults) : null,
            isEmpty: (await community.networks.page({ limit: 1 })).items.length === 0,
            metrics: metrics ? `http://127.0.0.1:${metrics.port}/metrics` : null,
          }),
    )
    // People have read it in the banner.
    if (faults && flags.json) log.warn(describePlan(faults))
    if (!flags.publicUrl && (flags.tlsCert || flags.trustProxy))
      log.warn(
        '--public-url is missing: links and addresses of uploads use the name in each request; give the origin, such as https://api.example.org',
      )
    // Its first time is minutes away, and loading its schedule takes a part of the whole start.
    const { startMaintenance } = await import('../operate/maintenance.ts')
    const endMaintenance = startMaintenance(community, inbox, log)
    opened.push(async () => endMaintenance())
    return { url: listening.url, close }
  } catch (error) {
    await close()
    throw error
  }
}

/** Uploads are kept as long as the storage keeps their addresses: those of a storage in memory are in a directory of the process's own. */
function filesOf({ storage, assets }: ServeFlags): string {
  if (!assets && storage === 'memory:') return join(tmpdir(), `folkmoot-assets-${crypto.randomUUID()}`)
  return assetsDirectory(storage, assets)
}

/** @throws UsageError if it is no directory and cannot be made: better now than at the first upload */
function requireDirectory(option: string, path: string): void {
  try {
    makeDirectory(path)
  } catch (error) {
    throw new UsageError(`${option} ${path} must be a directory, and it cannot be made (${errorCode(error)})`)
  }
}

async function metricsOf({ metricsPort }: ServeFlags, front: Front): Promise<Metrics | undefined> {
  if (metricsPort === undefined) return undefined
  const { startMetrics } = await import('../operate/metrics.ts')
  return startMetrics(metricsPort, () => front.phase)
}

/** The community, whose endpoints follow the rules of the relay in this process. */
async function ruled(community: Community, flags: ServeFlags): Promise<Community> {
  const { withRelayRules } = await import('../operate/relay-rules.ts')
  return withRelayRules(community, guardOf(flags))
}

type RelayHas = Pick<RelayOptions, 'outbox' | 'encryptionKeys' | 'version'>

async function startRelayOf(flags: ServeFlags, has: RelayHas, log: Log): Promise<Relay> {
  const { startRelay } = await import('../../relay/relay.ts')
  return startRelay({
    ...has,
    settings: reach(flags),
    onNotice: ({ kind, endpoint_id, text }) => {
      if (kind === 'endpoint.unreadable') log.warn(`endpoint ${endpoint_id}: ${text}`)
    },
    onAttempt: ({ outcome, event_type, endpoint_id, attempt, reason, next_at }) => {
      if (outcome !== 'delivered')
        log.warn(
          `not delivered: ${event_type} to endpoint ${endpoint_id}, attempt ${attempt}: ${reason}${next_at ? `; again at ${next_at}` : ''}`,
        )
    },
    onFault: (what, error) => log.fault(`relay: ${what}`, error),
  })
}
