/** The relay: a synced outbox directory, its store on disk, breaker, deadline and attempt log, as in production. */
import { openOutbox } from '../../adapters/outbox/file.ts'
import { startRelay } from '../../daemon/relay/relay.ts'
import { asSender, atRate, eventOf, inGroups, key, secret } from './made.ts'

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
  const add = (places: readonly number[]) => outbox.append(places.map((place) => [eventOf(place)]))
  if (perSecond === null) await inGroups(count, add)
  const start = () =>
    startRelay({ outbox: keptAt, settings: { allowHttp: true, allowPrivate: true, maxInFlightPerEndpoint: inFlight } })
  if (perSecond === null) return async () => void (await start())
  await start()
  return () => atRate(count, perSecond, add)
})
