/** The ids of another server. They stay as they are, unless a storage cannot hold them. */
import { createHash } from 'node:crypto'
import { isStorableId } from '../../../../lib/base/ids.ts'
import type { Id } from '../../../../lib/storage/table.ts'
import { textOf } from '../api-record.ts'

/** Ids that are made of something else are in the upper half, which no clock reaches before 2060. */
const upperHalf = 2n ** 52n

/** An id that follows from these parts: the same parts always give the same id. */
export function derivedId(...parts: readonly string[]): Id {
  const digest = createHash('sha256').update(JSON.stringify(parts)).digest()
  return String(upperHalf + BigInt.asUintN(52, digest.readBigUInt64BE(0)))
}

export interface Ids {
  /** The id here of an id there: the same one if a storage can hold it, else one that follows from it. */
  here(raw: unknown): Id
  /** The id there of an id here. */
  there(id: Id): string
  /** The pairs that are not the same, and not noted yet. */
  readonly unsaved: ReadonlyMap<Id, string>
  /** These pairs are noted. */
  saved(ids: readonly Id[]): void
}

/** @param known pairs of earlier runs, by the id here */
export function idsFrom(known: ReadonlyMap<Id, string>): Ids {
  const pairs = new Map(known)
  const unsaved = new Map<Id, string>()
  return {
    here(raw) {
      const text = textOf(raw)
      if (isStorableId(text)) return text
      const id = derivedId('id', text)
      if (!pairs.has(id)) {
        pairs.set(id, text)
        unsaved.set(id, text)
      }
      return id
    },
    there: (id) => pairs.get(id) ?? id,
    unsaved,
    saved(ids) {
      for (const id of ids) unsaved.delete(id)
    },
  }
}
