/** The relay: a synced outbox directory, its store on disk, breaker, deadline and attempt log, as in production. */
import { openOutbox } from '../../adapters/outbox/file.ts'
import { startRelay } from '../../daemon/relay/relay.ts'
import { asSender, atRate, eventOf, key, secret } from './made.ts'

await asSender(async ({ count, url, keptAt, inFlight, perSecond }) => {
  const outbox = await openOutbox({ directory: keptAt })
  const endpoint = {
    kind: 'endpoint',
    action: 'upsert',
    id: '1',
    network_id: '1',
    url,
    key,
    secrets: [secret],
    events: null,
  } as const
  await outbox.append([[{ ...endpoint, audience: 'integration', enabled: true, order: 'none', rate_per_second: null }]])
  if (perSecond === null) {
    const group = 500
    for (let first = 0; first < count; first += group)
      await outbox.append(Array.from({ length: Math.min(group, count - first) }, (_, step) => [eventOf(first + step)]))
  }
  const start = () => startRelay({ outbox: keptAt, settings: { allowHttp: true, allowPrivate: true, perEndpoint: inFlight } })
  if (perSecond === null) return async () => void (await start())
  await start()
  return () => atRate(count, perSecond, (places) => outbox.append(places.map((place) => [eventOf(place)])))
})
