/** The limit: a signed undici loop with nothing behind it. No durability, no retry, no breaker. */
import { Pool } from 'undici'
import { asSender, eventOf, headersOf } from './made.ts'

await asSender(async ({ count, url, inFlight }) => {
  const { origin, pathname } = new URL(url)
  const pool = new Pool(origin, { connections: inFlight, pipelining: 1 })
  const events = Array.from({ length: count }, (_, place) => eventOf(place))
  return async () => {
    let next = 0
    const loop = async () => {
      for (let event = events[next++]; event; event = events[next++]) {
        const { body, statusCode } = await pool.request({
          path: pathname,
          method: 'POST',
          headers: headersOf(event.event_id, event.body),
          body: event.body,
        })
        await body.dump()
        if (statusCode >= 300) throw new Error(`answered with ${statusCode}`)
      }
    }
    await Promise.all(Array.from({ length: inFlight }, loop))
  }
})
