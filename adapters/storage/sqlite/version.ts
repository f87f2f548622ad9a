/** The version of a file, or of some of its tables: it changes with commits of this process and of others. */
import type { Connection } from '../../sql/sqlite/connection.ts'

/** A function that returns another number once another connection has committed. It throws an error of SQLite. */
function countOfOthers({ database }: Connection): () => number {
  const statement = database.prepare('PRAGMA data_version')
  // An object of its one value costs as much as the statement.
  statement.setReturnArrays(true)
  return () => Number(Object.values(statement.get() ?? [])[0])
}

/** @param writer the connection of this process that writes: commits of a connection do not change its own `data_version` */
export function versionOf(writer: Connection) {
  let read: (() => number) | undefined
  let closed = false
  let isShared = false
  /** The last result of SQLite, and whether it is of this turn of the event loop. */
  let counted: number | undefined
  let isCounted = false
  /** Times at which others were found to have committed. */
  let ofOthers = 0
  /** Commits of this process, those that may have changed any table, and those that changed each one. */
  let own = 0
  let ofAny = 0
  const ofTable = new Map<string, number>()

  const again = () => {
    isCounted = false
  }

  /** A commit of another process counts from the next turn on. */
  function count(): void {
    if (isCounted) return
    read ??= countOfOthers(writer)
    const now = read()
    if (now !== counted) ofOthers += 1
    counted = now
    if (isShared) return
    isCounted = true
    setImmediate(again)
  }

  return {
    /**
     * A function that returns whether others have committed since its last call, or may have before the first one. It throws an
     * error of SQLite.
     */
    watch(): () => boolean {
      let seen: number | undefined
      return () => {
        read ??= countOfOthers(writer)
        const now = read()
        const isNew = now !== seen
        seen = now
        return isNew
      }
    },
    /** See `Storage`. */
    now(tables?: readonly { readonly name: string }[]): number {
      if (closed) return Number.NaN
      try {
        count()
      } catch {
        // The next read reports the fault.
        return Number.NaN
      }
      return ofOthers + (tables ? tables.reduce((sum, { name }) => sum + (ofTable.get(name) ?? 0), ofAny) : own)
    },
    /** This process has committed changes of these tables; `'any'` if it is unknown which. */
    committed(tables: ReadonlySet<string> | 'any'): void {
      if (tables !== 'any' && tables.size === 0) return
      own += 1
      if (tables === 'any') ofAny += 1
      else for (const table of tables) ofTable.set(table, (ofTable.get(table) ?? 0) + 1)
    },
    /** A host may have committed on its own connection. */
    again,
    /** A host commits on its own connection: from now on a version holds for no longer than a call. */
    share(): void {
      isShared = true
      again()
    },
    close(): void {
      closed = true
    },
  }
}
