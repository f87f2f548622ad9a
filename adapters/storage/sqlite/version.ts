/** The version of a file: it changes with every commit, of this process and of others. */
import type { Connection } from '../../sql/sqlite/connection.ts'

/** @param open opens a connection that is used for nothing else: the commits of a connection do not change its own version */
export function versionOf(open: () => Connection) {
  let connection: Connection | undefined
  let read: (() => number) | undefined
  let closed = false
  let isShared = false
  /** The version in this turn of the event loop; a commit of another process counts from the next one on. */
  let ofTurn: number | undefined

  function reader(): () => number {
    connection = open()
    const statement = connection.database.prepare('PRAGMA data_version')
    return () => Number(statement.get()?.['data_version'])
  }

  const changed = () => {
    ofTurn = undefined
  }

  return {
    /** See `Storage`. */
    now(): number {
      if (closed) return Number.NaN
      if (ofTurn !== undefined) return ofTurn
      try {
        read ??= reader()
        const version = read()
        if (!isShared) {
          ofTurn = version
          setImmediate(changed)
        }
        return version
      } catch {
        // The next read reports the fault.
        return Number.NaN
      }
    },
    /** This process has committed. */
    changed,
    /** A host commits on its own connection: from now on a version holds for no longer than a call. */
    share(): void {
      isShared = true
      changed()
    },
    close(): void {
      closed = true
      connection?.close()
    },
  }
}
