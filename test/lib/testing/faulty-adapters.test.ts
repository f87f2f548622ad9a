import { describe, expect, test } from 'vitest'
import { runStorageCase, type StorageUnderTest, storageCases, testStorage } from '../../../lib/testing/index.ts'
import { faultyAdapters, rightAdapter } from './faulty-adapters.ts'

const slow = { timeout: 120_000 }

/** The titles of the cases that a storage fails. */
async function failures(open: () => StorageUnderTest): Promise<string[]> {
  const failed: string[] = []
  for (const storageCase of storageCases) {
    await runStorageCase(storageCase, async () => open()).catch(() => failed.push(storageCase.title))
  }
  return failed
}

describe('the storage suite', () => {
  test('lets a right storage pass', slow, async () => {
    expect(await failures(rightAdapter)).toEqual([])
  })

  test.for(faultyAdapters)('catches the defect that $defect', slow, async ({ caughtBy, open }) => {
    const failed = await failures(open)
    expect(failed).toEqual(expect.arrayContaining([...caughtBy]))
  })

  test('fails a case, an opening and a close that never end, and names them', async () => {
    const never = () => new Promise<never>(() => {})
    const [storageCase] = storageCases
    if (!storageCase) throw new Error('the suite has no cases')
    const right = rightAdapter()
    const hanging = (wrong: Partial<StorageUnderTest['storage']>) => async () => ({
      ...right,
      storage: { ...right.storage, ...wrong },
    })
    const run = (open: Parameters<typeof runStorageCase>[1]) => runStorageCase(storageCase, open, { timeoutMs: 20 })
    await expect(run(hanging({ transaction: never }))).rejects.toThrow(
      `the case "${storageCase.title}" did not respond within 20 ms`,
    )
    await expect(run(hanging({ transaction: never, close: never }))).rejects.toThrow(
      'closing the storage did not respond within 20 ms',
    )
    await expect(run(never)).rejects.toThrow('opening the storage did not respond within 20 ms')
  })

  test('names every case differently', () => {
    expect(new Set(storageCases.map(({ title }) => title)).size).toBe(storageCases.length)
  })

  test('refuses to skip a case that does not exist', () => {
    const misspelt = { skip: [{ title: 'count counts', reason: 'no count' }] }
    expect(() => testStorage('any', async () => rightAdapter(), misspelt)).toThrow(
      '`skip` names no case of the suite: count counts',
    )
  })
})
