/** When to look at which endpoint again: a binary heap, so that ten thousand of them cost little. */

export interface WakeTimes<T> {
  add(time: number, value: T): void
  /** The earliest time, or infinity. */
  readonly earliest: number
  take(until: number): T[]
}

export function createWakeTimes<T>(): WakeTimes<T> {
  const heap: { readonly time: number; readonly value: T }[] = []
  const timeAt = (index: number): number => heap[index]?.time ?? Number.POSITIVE_INFINITY

  function swap(a: number, b: number): void {
    const one = heap[a]
    const other = heap[b]
    if (!one || !other) return
    heap[a] = other
    heap[b] = one
  }

  function pop(): T | undefined {
    const top = heap[0]
    const last = heap.pop()
    if (heap.length > 0 && last) heap[0] = last
    for (let index = 0; ; ) {
      const left = 2 * index + 1
      const least = timeAt(left + 1) < timeAt(left) ? left + 1 : left
      if (timeAt(least) >= timeAt(index)) return top?.value
      swap(index, least)
      index = least
    }
  }

  return {
    add(time, value) {
      if (!Number.isFinite(time)) return
      let index = heap.push({ time, value }) - 1
      for (let parent = (index - 1) >> 1; index > 0 && timeAt(index) < timeAt(parent); parent = (index - 1) >> 1) {
        swap(index, parent)
        index = parent
      }
    },
    get earliest() {
      return timeAt(0)
    },
    take(until) {
      const due: T[] = []
      while (timeAt(0) <= until) {
        const value = pop()
        if (value !== undefined) due.push(value)
      }
      return due
    },
  }
}
