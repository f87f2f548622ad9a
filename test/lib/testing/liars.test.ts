import { describe, expect, test } from 'vitest'
import { runStorageCase, type StorageUnderTest, storageCases, testStorage } from '../../../lib/testing/index.ts'
import { honest, liars } from './liars.ts'

const patience = { timeout: 120_000 }

/** The titles of the cases that a storage fails. */
async function failures(open: () => StorageUnderTest): Promise<string[]> {
  const failed: string[] = []
  for (const storageCase of storageCases) {
    await runStorageCase(storageCase, async () => open()).catch(() => failed.push(storageCase.title))
  }
  return failed
}

describe('the storage suite', () => {
  test('lets a right storage pass', patience, async () => {
    expect(await failures(honest)).toEqual([])
  })

  test.for(liars)('catches the lie that $lie', patience, async ({ caughtBy, open }) => {
    const failed = await failures(open)
    expect(failed).toEqual(expect.arrayContaining([...caughtBy]))
  })

  test('names every case differently', () => {
    expect(new Set(storageCases.map(({ title }) => title)).size).toBe(storageCases.length)
  })

  test('refuses to skip a case that does not exist', () => {
    const misspelt = { skip: [{ title: 'count counts', reason: 'no count' }] }
    expect(() => testStorage('any', async () => honest(), misspelt)).toThrow('`skip` names no case of the suite: count counts')
  })
})
