/** Commits that are not on the disk yet. A read that may have seen one of them gets its response when it is. */
/** The name of a table, or `any` where it is unknown. */
export type Tables = ReadonlySet<string> | 'any'

export interface UnsyncedCommits {
  /** Rows of these tables changed in a commit. @param synced resolves or rejects with its sync */
  committed(tables: Tables, synced: Promise<void>): void
  /**
   * The syncs that a read waits for; `undefined` for none. It never rejects: a failed sync leaves the commit visible.
   * @param table `undefined` for any
   */
  of(table: string | undefined): Promise<unknown> | undefined
}

export function unsyncedTables(): UnsyncedCommits {
  /** The last sync that each table waits for, and that of commits whose tables are unknown. */
  const waiting = new Map<string, Promise<void>>()
  const any = '*'

  function wait(name: string, synced: Promise<void>): void {
    waiting.set(name, synced)
    const over = () => {
      if (waiting.get(name) === synced) waiting.delete(name)
    }
    synced.then(over, over)
  }

  return {
    committed(tables, synced) {
      if (tables === 'any') wait(any, synced)
      else for (const name of tables) wait(name, synced)
    },
    of(table) {
      if (waiting.size === 0) return undefined
      const found = table === undefined ? [...waiting.values()] : [waiting.get(any), waiting.get(table)]
      const syncs = found.filter((synced) => synced !== undefined)
      return syncs.length === 0 ? undefined : Promise.allSettled(syncs)
    },
  }
}
