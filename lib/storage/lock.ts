/**
 * When rows are locked. On PostgreSQL transactions that write run concurrently. A guard or a unique key keeps two of them apart
 * only if both write the same row. Where they do not, one rule does it:
 *
 * - To add to a row, or to decide by it, take a `share` lock on it. The row stays, and others may add to it at the same time.
 * - To change or remove a row, or to let one in at a time, take an `update` lock first, then read what belongs to it.
 * - A transaction takes the strongest lock that it needs of a row first. Two that exchange `share` for `update` deadlock.
 * - Every transaction that writes takes `use` of its network at the beginning. A change that makes the network read-only takes `close`.
 *
 * So nothing is ever added to a space, a post or a member that is being removed. Locks are taken in one order, so that no two
 * transactions wait for each other. The order is network, plan, custom field, member, subscription and purchase, collection,
 * space, post, event, comment, segment. A parent is locked before its children, and several rows of a table by ascending id. If
 * two do wait for each other, PostgreSQL undoes one of them, and the kernel runs it again.
 */
import { Conflict } from './contract.ts'

/**
 * The result of a lock, a guarded change or a removal.
 * @param what names the row in logs
 * @throws Conflict when it gave nothing: another transaction was faster. The kernel runs the work again
 */
export function orConflict<R>(row: R | undefined, what: string): R {
  if (row === undefined) throw new Conflict(`${what} was changed or removed by another transaction`)
  return row
}
