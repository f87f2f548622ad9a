import { isoTime } from '../../base/clock.ts'
import type { Settings } from '../../settings.ts'
import { type ApiKeyRow, apiKeys } from '../../storage/tables/administration.ts'

const minuteMs = 60_000

/** When keys were last used, to the minute. It is written outside the request, which does not wait for it. */
export interface NotesOfUse {
  /** @param now milliseconds since 1970 */
  note(key: ApiKeyRow, now: number): void
  /** Resolves when every note is written. */
  settled(): Promise<unknown>
  /** The number of keys that are remembered: those of the minute, whatever was used before. */
  remembered(): number
}

/** Each key is written once a minute at most, even if the write fails. */
export function notesOfUse({ storage, report }: Pick<Settings, 'storage' | 'report'>): NotesOfUse {
  const noted = { minute: 0, keys: new Set<string>() }
  const pending = new Set<Promise<void>>()
  return {
    note(key, now) {
      const minute = now - (now % minuteMs)
      if (noted.minute !== minute) noted.keys.clear()
      noted.minute = minute
      if (noted.keys.has(key.id)) return
      noted.keys.add(key.id)
      const last_used_at = isoTime(minute)
      if ((key.last_used_at ?? '') >= last_used_at) return
      const write = storage
        .transaction((tx) => tx.update(apiKeys, key.id, { last_used_at }))
        .then(
          () => undefined,
          (error: unknown) => report(error, { task: `last use of key ${key.id}` }),
        )
        .finally(() => pending.delete(write))
      pending.add(write)
    },
    settled: () => Promise.all(pending),
    remembered: () => noted.keys.size,
  }
}
