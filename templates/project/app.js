/** The API of your community, the relay that delivers its webhooks, and a receiver of them, in one server. */
import { createCommunity } from 'folkmoot'
import { rateLimits } from 'folkmoot/rate-limits'
import { startRelay } from 'folkmoot/relay'
import { createReceiver } from './receiver.js'
import { serve } from './serve.js'

export async function startApp({ storage, port, host, publicUrl, encryptionKeys = [], network: wanted, onEvent }) {
  const isLocal = publicUrl === undefined
  const community = createCommunity({
    storage,
    encryptionKeys,
    rateLimiter: rateLimits(),
    ...(isLocal ? { allowHttp: true } : { publicUrl, trustProxy: true }),
  })
  const relay = await startRelay({
    storage,
    encryptionKeys,
    allowHttp: isLocal,
    allowPrivate: isLocal,
    onAttempt({ outcome, event_type, reason }) {
      if (outcome !== 'delivered') console.error(`${event_type} was not delivered: ${reason}`)
    },
  })

  const credentials = Promise.withResolvers()
  const receive = createReceiver(credentials.promise, onEvent)
  const server = await serve({ community, relay, receive, publicUrl, port, host })
  const url = publicUrl ?? `http://127.0.0.1:${server.port}`

  const network = (await community.networks.find(wanted.subdomain)) ?? (await community.networks.create(wanted)).network
  credentials.resolve(await registerReceiver(community, network.id, `${url}/webhooks`))
  // Last, because the token can be shown only once: a start that fails makes none.
  const token = await firstKey(community, network.id)

  return {
    url,
    network,
    token,
    async stop() {
      await relay.stop()
      await server.close()
      await community.close()
    },
  }
}

/** The webhook endpoint of this app. It's known by its name, so that it moves along when the app's address changes. */
async function registerReceiver(community, network, url) {
  const name = 'Receiver of the app'
  const known = (await community.endpoints.list(network)).find((endpoint) => endpoint.name === name)
  if (known && known.url !== url) await community.endpoints.update(network, known.id, { url, token: null })
  // The first start makes its token and its signing secret. A token does not move to another server: there it gets a new one.
  const { id } = await community.endpoints.upsert({ network, url, name, token: true, secrets: true })
  return community.endpoints.reveal(network, id)
}

/** The token of a key for the API, unless there is a key: only its hash is stored, so later starts can't show it. */
async function firstKey(community, network) {
  if ((await community.keys.list(network)).length > 0) return undefined
  return (await community.keys.create({ network, name: 'First key', scopes: ['*'] })).token
}
