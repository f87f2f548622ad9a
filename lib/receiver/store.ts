/** The memory of handled events, by which a receiver notices deliveries that it has had already. */
import { requireOptions } from './given-options.ts'

/**
 * Two functions over the ids of handled events. `has` is called when a delivery comes, `add` after its work is done. So an event
 * whose work failed is not in the store, and its next delivery is no duplicate. A `Set` fits, and so does a table or a cache.
 */
export interface EventStore {
  /** Whether the event was handled before. */
  has(event_id: string): boolean | Promise<boolean>
  /** Its result is awaited and ignored. */
  add(event_id: string): unknown
}

/**
 * A store in memory, for one process. It forgets when the process ends, and the oldest ids above `max`.
 * @param max ids that it keeps
 */
export function memoryStore(options: { readonly max?: number } = {}): EventStore {
  requireOptions('memoryStore', options, ['max'])
  const { max = 100_000 } = options
  if (!Number.isSafeInteger(max) || max < 1) throw new TypeError('option `max` must be a whole number of at least 1')
  const ids = new Set<string>()
  return {
    has: (event_id) => ids.has(event_id),
    add(event_id) {
      ids.add(event_id)
      if (ids.size > max) for (const oldest of ids.values()) return ids.delete(oldest)
    },
  }
}
