/** The relay: a synced outbox directory, its store on disk, breaker, deadline and attempt log, as in production. */
import { openOutbox } from '../../adapters/outbox/file.ts'
import { startRelay } from '../../daemon/relay/relay.ts'
import type { EndpointUpsert } from '../../lib/outbox/record.ts'
import { ingestAll } from './ingested.ts'
import { asSender, atRate, eventOf, inGroups, key, secret } from './made.ts'

await asSender(async ({ count, url, keptAt, inFlight, perSecond, ingested }) => {
  const outbox = await openOutbox({ directory: keptAt })
  const define = (enabled: boolean): EndpointUpsert => ({
    ...{ kind: 'endpoint', action: 'upsert', id: '1', network_id: '1', url, key, secrets: [secret], events: null },
    ...{ audience: 'integration', enabled, order: 'none', rate_per_second: null },
  })
  await outbox.append([[define(!ingested)]])
  const add = (places: readonly number[]) => outbox.append(places.map((place) => [eventOf(place)]))
  if (perSecond === null) await inGroups(count, add)
  if (ingested) {
    await ingestAll(keptAt, count)
    await outbox.append([[define(true)]])
  }
  const start = () =>
    startRelay({ outbox: keptAt, settings: { allowHttp: true, allowPrivate: true, maxInFlightPerEndpoint: inFlight } })
  if (perSecond === null) return async () => void (await start())
  await start()
  return () => atRate(count, perSecond, add)
})
