import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { toNodeListener } from '../../adapters/http/node.ts'
import { type DirectoryAssetsOptions, type DownloadGuard, ports } from '../../adapters/ports/index.ts'
import { withoutPassword } from '../../adapters/storage/postgres/address.ts'
import { type Community, createCommunity, type RateLimiter } from '../../lib/index.ts'
import { placeOf } from '../../lib/kernel/report.ts'
import type { Storage } from '../../lib/storage/contract.ts'
import { fault, type Output } from '../output.ts'
import { checkUrl, type GuardSettings, guardedLookup } from '../relay/guard.ts'
import type { Relay } from '../relay/relay.ts'
import { systemResolve } from '../relay/resolve.ts'
import { UsageError } from '../usage.ts'
import { assetsPath, withAssets } from './assets.ts'
import { banner, scroll } from './banner.ts'
import { demoNetwork } from './demo/made.ts'
import { listen } from './listen.ts'
import { openRateLimits } from './rate-limits.ts'
import type { Receiver } from './receiver.ts'
import { openStorage } from './storage-address.ts'
import { startUpkeep } from './upkeep.ts'

/** What `folkmoot serve` was told. */
export interface ServeFlags {
  readonly port: number
  readonly host: string
  readonly storage: string
  readonly outbox?: string
  /** Where uploads are kept. */
  readonly assets?: string
  /** The origin that callers see, where a proxy hides ours. */
  readonly publicUrl?: string
  readonly allowHttp?: boolean
  readonly trustProxy?: boolean
  readonly tlsCert?: string
  readonly tlsKey?: string
  readonly demo?: boolean
  readonly relay?: boolean
  readonly webhookUrl: readonly string[]
  readonly webhookKey: readonly string[]
  readonly json?: boolean
}

/** A server that runs. */
export interface Running {
  readonly url: string
  /** Ends everything in the order in which nothing is lost; running requests have until the grace is over. */
  close(): Promise<void>
}

/** Milliseconds that running requests and deliveries have when the server ends. */
const grace = 10_000

/**
 * The stand-alone API server: storage, API, and with `--relay` the relay in the same process.
 * @throws UsageError, StorageError
 */
export async function serve(flags: ServeFlags, out: Output): Promise<Running> {
  if (flags.webhookUrl.length !== flags.webhookKey.length)
    throw new UsageError('--webhook-url and --webhook-key come in pairs: give as many of the one as of the other')
  if (flags.webhookUrl.length > 0 && !flags.demo)
    throw new UsageError('--webhook-url registers endpoints of the demo network: add --demo')

  const files = assetsDirectory(flags)
  // The port first: whoever finds it taken has touched nothing. Requests wait until the community is there.
  const community = Promise.withResolvers<Community>()
  community.promise.catch(() => {})
  const listener = toNodeListener({ serve: async (incoming) => (await community.promise).serve(incoming) })
  const listening = await listen(withAssets(files, httpsOf(flags), listener), flags)
  // What was opened is closed in the opposite order, also when a later step fails; first of all, nothing new comes in.
  const opened: (() => Promise<unknown>)[] = []
  const close = async () => {
    await listening.close(grace)
    for (const each of opened.splice(0).reverse()) await each()
  }
  try {
    const { storage, outbox } = await openStorage(flags.storage, flags.outbox, out.warn)
    opened.push(() => storage.close())
    const rateLimiter = await openRateLimits(flags.storage, out.warn)
    opened.push(async () => rateLimiter.close?.())
    if (!flags.assets && flags.storage === 'memory:') opened.push(() => rm(files, { recursive: true, force: true }))
    const made = communityOf(
      storage,
      rateLimiter,
      { directory: files, baseUrl: `${flags.publicUrl ?? listening.url}${assetsPath}` },
      flags,
      out,
    )
    opened.push(() => made.close(), startUpkeep(made, out))

    const token = flags.demo ? await (await import('./demo/seed.ts')).seedDemo(made, storage) : undefined
    const ownReceiver = flags.demo && flags.relay && !flags.json && flags.webhookUrl.length === 0
    const receiver = ownReceiver ? await registerReceiver(made, out) : undefined
    if (receiver) opened.push(() => receiver.close())
    if (flags.demo) {
      for (const [place, url] of flags.webhookUrl.entries())
        await made.endpoints.upsert({ network_id: demoNetwork.id, url, key: flags.webhookKey[place] ?? '' })
    }

    if (flags.relay) {
      const relay = await relayOf(outbox, flags, out)
      opened.push(() => relay.close(grace))
    }
    community.resolve(made)

    const facts = {
      url: listening.url,
      network_id: flags.demo ? demoNetwork.id : null,
      subdomain: flags.demo ? demoNetwork.subdomain : null,
      token: token ?? null,
      outbox,
    }
    out.line(
      flags.json
        ? JSON.stringify(facts)
        : banner({
            ...facts,
            storage: withoutPassword(flags.storage),
            outbox: withoutPassword(outbox),
            secured: isSecured(flags),
            receiver: receiver?.url ?? null,
          }),
    )
    return { url: listening.url, close }
  } catch (error) {
    community.reject(error)
    await close()
    throw error
  }
}

/** Uploads are kept beside what the storage keeps; with nothing on disk, in a directory of the process's own. */
function assetsDirectory({ storage, assets }: ServeFlags): string {
  const path = storage.slice(storage.indexOf(':') + 1)
  if (assets) return resolve(assets)
  return storage.startsWith('lowdb:') || storage.startsWith('sqlite:')
    ? resolve(dirname(path), 'assets')
    : join(tmpdir(), `folkmoot-assets-${crypto.randomUUID()}`)
}

function communityOf(
  storage: Storage,
  rateLimiter: RateLimiter,
  assets: DirectoryAssetsOptions,
  flags: ServeFlags,
  out: Output,
): Community {
  // What is downloaded for strangers stays out of the operator's own network, as webhooks do.
  const guard: GuardSettings = { ...reach(flags), ports: [] }
  const download: DownloadGuard = {
    allows: (url) => checkUrl(url, guard).ok,
    lookup: guardedLookup(systemResolve(), () => guard),
  }
  return createCommunity({
    storage,
    ...(flags.publicUrl ? { publicUrl: flags.publicUrl } : {}),
    ...httpsOf(flags),
    rateLimiter,
    ports: ports({ assets, download }),
    hooks: {
      onError: (error, about) => out.warn(`fault in ${placeOf(about)}: ${fault(error)}`),
    },
  })
}

const httpsOf = (flags: ServeFlags) => ({ allowHttp: flags.allowHttp ?? false, trustProxy: flags.trustProxy ?? false })

const isSecured = (flags: ServeFlags): boolean => Boolean(flags.tlsCert || flags.allowHttp || flags.trustProxy)

/** The built-in receiver of the demo, as an endpoint for every event. Receivers of earlier starts are gone with their ports. */
async function registerReceiver(community: Community, out: Output): Promise<Receiver> {
  const key = crypto.randomUUID()
  const { startReceiver } = await import('./receiver.ts')
  const receiver = await startReceiver(key, (delivery) => out.line(scroll(delivery)))
  for (const { id, url } of await community.endpoints.list(demoNetwork.id))
    if (/^http:\/\/127\.0\.0\.1:\d+\/webhooks$/.test(url)) await community.endpoints.remove(demoNetwork.id, id)
  await community.endpoints.upsert({ network_id: demoNetwork.id, url: receiver.url, key })
  return receiver
}

/**
 * What webhooks and downloads may reach. The demo's peers are on this machine, so with `--allow-http` they may be reached;
 * without the demo the guard stands as in `folkmoot-relay`.
 */
function reach(flags: ServeFlags): { readonly allowHttp: boolean; readonly allowPrivate: boolean } {
  const local = Boolean(flags.demo && flags.allowHttp)
  return { allowHttp: local, allowPrivate: local }
}

async function relayOf(outbox: string, flags: ServeFlags, out: Output): Promise<Relay> {
  const { startRelay } = await import('../relay/relay.ts')
  return startRelay({
    outbox,
    settings: reach(flags),
    onAttempt: ({ outcome, event_type, endpoint_id, attempt, reason, next_at }) => {
      if (outcome !== 'delivered')
        out.warn(
          `not delivered: ${event_type} to endpoint ${endpoint_id}, attempt ${attempt}: ${reason}${next_at ? `; again at ${next_at}` : ''}`,
        )
    },
    onFault: (what, error) => out.warn(`relay: ${what}: ${fault(error)}`),
  })
}
