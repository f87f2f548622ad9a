/**
 * The turns on the tables: one writer alone, or any number of readers together.
 *
 * Turns are given in the order of requests, so neither side waits for ever: readers after a waiting writer wait behind it.
 */
export interface Turns {
  /** A reader's turn. `undefined` when it begins immediately, else a promise for its beginning. */
  shared(place?: 'first' | 'last'): Promise<void> | undefined
  /** A writer's turn, in the same way. */
  exclusive(place?: 'first' | 'last'): Promise<void> | undefined
  /** Ends a turn. */
  endShared(): void
  endExclusive(): void
}

interface Waiting {
  readonly exclusive: boolean
  readonly begin: () => void
}

/** Turns of which none is taken yet. */
export function newTurns(): Turns {
  const queue: Waiting[] = []
  let readers = 0
  let writing = false

  function wait(exclusive: boolean, place: 'first' | 'last'): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    queue[place === 'first' ? 'unshift' : 'push']({ exclusive, begin: resolve })
    return promise
  }

  /** The turn is taken here, not when the promise's callback runs: no other can slip in between. */
  function admit() {
    for (let next = queue[0]; next && !writing; next = queue[0]) {
      if (next.exclusive && readers > 0) return
      if (next.exclusive) writing = true
      else readers++
      queue.shift()
      next.begin()
    }
  }

  return {
    shared(place = 'last') {
      if (writing || queue.length > 0) return wait(false, place)
      readers++
      return undefined
    },
    exclusive(place = 'last') {
      if (writing || readers > 0 || queue.length > 0) return wait(true, place)
      writing = true
      return undefined
    },
    endShared() {
      readers--
      admit()
    },
    endExclusive() {
      writing = false
      admit()
    },
  }
}
