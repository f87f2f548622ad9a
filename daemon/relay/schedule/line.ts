/** A queue that anything in it can leave at once, wherever it stands. */

/** Where something stands. */
export interface Place<T> {
  readonly value: T
  before: Place<T> | undefined
  after: Place<T> | undefined
}

export interface Line<T> {
  readonly first: Place<T> | undefined
  /** Puts something at the end. */
  add(value: T): Place<T>
  /** Takes out what stands there. A place is used once. */
  remove(place: Place<T>): void
}

export function createLine<T>(): Line<T> {
  let first: Place<T> | undefined
  let last: Place<T> | undefined
  return {
    get first() {
      return first
    },
    add(value) {
      const place: Place<T> = { value, before: last, after: undefined }
      if (last) last.after = place
      else first = place
      last = place
      return place
    },
    remove({ before, after }) {
      if (before) before.after = after
      else first = after
      if (after) after.before = before
      else last = before
    },
  }
}
