/** A doubly linked list: a queue that anything in it can leave in constant time, wherever it is. */

export interface ListNode<T> {
  readonly value: T
  before: ListNode<T> | undefined
  after: ListNode<T> | undefined
}

export interface LinkedList<T> {
  readonly first: ListNode<T> | undefined
  /** Puts something at the end. */
  add(value: T): ListNode<T>
  /** Takes out what is there. A node is used once. */
  remove(node: ListNode<T>): void
}

export function createLinkedList<T>(): LinkedList<T> {
  let first: ListNode<T> | undefined
  let last: ListNode<T> | undefined
  return {
    get first() {
      return first
    },
    add(value) {
      const node: ListNode<T> = { value, before: last, after: undefined }
      if (last) last.after = node
      else first = node
      last = node
      return node
    },
    remove({ before, after }) {
      if (before) before.after = after
      else first = after
      if (after) after.before = before
      else last = before
    },
  }
}
