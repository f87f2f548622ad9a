/**
 * The storage suite: what every storage does, as a list of cases. When an adapter passes them all, it is right.
 */
import { describe, test } from 'vitest'
import { within } from '../base/timeout.ts'
import { conditionCases } from './cases/conditions.ts'
import { keyCases } from './cases/keys.ts'
import { lifecycleCases } from './cases/lifecycle.ts'
import { lockCases } from './cases/locks.ts'
import { queryCases } from './cases/queries.ts'
import { rowCases } from './cases/rows.ts'
import { transactionCases } from './cases/transactions.ts'
import { valueCases } from './cases/values.ts'
import { suiteTables } from './notes.ts'
import type { OpenStorage, StorageCase } from './subject.ts'

/** Every case, in the order in which they run. */
export const storageCases: readonly StorageCase[] = [
  ...rowCases,
  ...keyCases,
  ...queryCases,
  ...conditionCases,
  ...lockCases,
  ...transactionCases,
  ...valueCases,
  ...lifecycleCases,
]

/** A case that an adapter cannot pass, and why. */
export interface SkippedCase {
  /** The title of the case, exactly as the suite has it. */
  readonly title: string
  /** Shown next to the skipped case. */
  readonly reason: string
}

const caseTimeoutMs = 60_000
/** Opening, closing and removing come on top, each with its own bound. */
const testTimeoutMs = 2 * caseTimeoutMs

/**
 * Declares the whole suite as vitest tests, one per case, each on a separate storage.
 *
 * @param name stands above the tests
 * @param open opens a fresh, empty storage
 * @param options `skip`: cases that are left out, each with a reason, which the report shows
 * @throws RangeError when `skip` names a case that does not exist
 * @example testStorage('memory', async () => ({ storage: memoryStorage({ outbox }), records: async () => appended }))
 */
export function testStorage(name: string, open: OpenStorage, options: { readonly skip?: readonly SkippedCase[] } = {}): void {
  const skipped = new Map((options.skip ?? []).map(({ title, reason }) => [title, reason]))
  const unknown = [...skipped.keys()].filter((title) => !storageCases.some((known) => known.title === title))
  if (unknown.length > 0) throw new RangeError(`option \`skip\` names no case of the suite: ${unknown.join('; ')}`)

  describe(name, () => {
    for (const storageCase of storageCases) {
      const reason = skipped.get(storageCase.title)
      if (reason !== undefined) {
        test.skip(`${storageCase.title} (${reason})`, () => {})
        continue
      }
      test(storageCase.title, { timeout: testTimeoutMs }, async (context) => {
        const outcome = await runStorageCase(storageCase, open)
        if (outcome === 'does not apply') context.skip('nothing outlives this storage, so there is nothing to open again')
      })
    }
  })
}

/**
 * Runs one case on a separate storage, which is closed and removed afterwards. For runners other than vitest's `test`;
 * assertions still come from vitest.
 *
 * @param options `timeoutMs`: how long opening the storage, the case, closing and removing may take each, 60 seconds unless given
 * @returns whether the case applies to this kind of storage
 * @throws what the case found wrong, or TooSlow when a step never ended
 */
export async function runStorageCase(
  storageCase: StorageCase,
  open: OpenStorage,
  { timeoutMs = caseTimeoutMs }: { readonly timeoutMs?: number } = {},
): Promise<'passed' | 'does not apply'> {
  const subject = await within(timeoutMs, 'opening the storage', open(suiteTables))
  try {
    if (storageCase.needsReopen && !subject.reopen) return 'does not apply'
    await within(timeoutMs, `the case "${storageCase.title}"`, storageCase.run(subject))
    return 'passed'
  } finally {
    await within(timeoutMs, 'closing the storage', subject.storage.close())
    await within(timeoutMs, 'removing the storage', subject.dispose?.())
  }
}
