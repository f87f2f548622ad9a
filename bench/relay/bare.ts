/** The limit: a signed undici loop with nothing behind it. No durability, no retry, no breaker. */
import { asSender, connectionsTo, eventOf, post } from './made.ts'

await asSender(async ({ count, url, inFlight }) => {
  const { pool, path } = connectionsTo(url, inFlight)
  const events = Array.from({ length: count }, (_, place) => eventOf(place))
  return async () => {
    let next = 0
    const loop = async () => {
      for (let event = events[next++]; event; event = events[next++]) await post(pool, path, event)
    }
    await Promise.all(Array.from({ length: inFlight }, loop))
  }
})
