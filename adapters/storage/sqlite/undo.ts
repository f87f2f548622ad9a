/**
 * Undoes one transaction of a group. Most transactions add one row, and removing it undoes them. A savepoint would copy each page
 * that they change, so one is begun only before another change.
 */
import type { Connection } from '../../sql/sqlite/connection.ts'
import type { Statement } from '../../sql/statement.ts'

export interface Undo {
  /** A transaction begins. */
  begun(): void
  /** Before any change but that of `insert`, and before somebody else may make one. */
  beforeChange(): void
  /** Runs an insert. @returns whether the row went in. @throws StorageError */
  insert(statement: Statement): boolean
  /** The transaction has ended well. */
  ended(): void
  /** Undoes it. @throws StorageError, after which the whole group must be undone */
  undo(): void
}

/** @param connection the one that writes */
export function undoOn(connection: Connection): Undo {
  let hasSavepoint = false
  /** Removes the row that was added before any savepoint. */
  let removal: Statement | undefined

  function beforeChange(): void {
    if (hasSavepoint) return
    connection.run('SAVEPOINT work')
    hasSavepoint = true
  }

  return {
    beforeChange,
    begun() {
      hasSavepoint = false
      removal = undefined
    },
    insert(statement) {
      const { undoneBy } = statement
      const isFirst = !hasSavepoint && !removal && undoneBy !== undefined
      if (!isFirst) beforeChange()
      const isIn = connection.change(statement) > 0
      // If its key was taken, the row there is somebody else's.
      if (isFirst && isIn) removal = undoneBy
      return isIn
    },
    ended() {
      if (hasSavepoint) connection.run('RELEASE work')
    },
    undo() {
      if (hasSavepoint) {
        connection.run('ROLLBACK TO work')
        connection.run('RELEASE work')
      }
      if (removal && connection.change(removal) !== 1) throw new Error('a row that was added is not there to be removed')
    },
  }
}
