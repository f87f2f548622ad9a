import { expect } from 'vitest'
import { event, everyNote, giveWay, note, notes, store } from '../notes.ts'
import type { StorageCase } from '../subject.ts'

/** Closing and opening again. */
export const lifecycleCases: readonly StorageCase[] = [
  {
    title: 'close may be called again, and nothing works afterwards',
    async run({ storage }) {
      await store(storage, note({ id: '1' }))
      await Promise.all([storage.close(), storage.close()])
      await storage.close()
      await expect(storage.transaction(async () => 1)).rejects.toMatchObject({ code: 'closed' })
      await expect(storage.transaction(async () => 1, { readOnly: true })).rejects.toMatchObject({ code: 'closed' })
    },
  },
  {
    title: 'close waits for transactions that run',
    async run({ storage, records }) {
      const closed = Promise.withResolvers<string>()
      const steps: string[] = []
      await storage.transaction(async (tx) => {
        storage.close().then(
          () => closed.resolve(steps.join()),
          (error) => closed.reject(error),
        )
        await giveWay(closed.promise)
        await tx.insert(notes, note({ id: '1' }))
        await tx.append([event('last')])
        steps.push('worked')
      })
      expect(await closed.promise).toBe('worked')
      expect(await records()).toEqual([event('last')])
    },
  },
  {
    title: 'what was committed is there after opening again, and keys hold',
    needsReopen: true,
    async run({ storage, reopen }) {
      const rows = [
        note({ id: '9', slug: 'a', folder: 'f', extra: { list: ['ä', null] }, weight: 0.1 }),
        note({ id: '10', title: '👩‍👩‍👧 \u2028', due_at: '2026-11-20T10:00:00.007Z', pinned: true }),
      ]
      await store(storage, ...rows, note({ id: '11' }))
      await storage.transaction((tx) => tx.remove(notes, '11'))
      await storage.close()
      const again = await reopen?.()
      if (!again) throw new Error('`reopen` gave no storage')
      try {
        expect(await everyNote(again)).toEqual(rows)
        await expect(store(again, note({ id: '12', slug: 'a' }))).rejects.toMatchObject({ code: 'unique' })
        await store(again, note({ id: '12', slug: 'b' }))
        expect(await everyNote(again)).toEqual([...rows, note({ id: '12', slug: 'b' })])
      } finally {
        await again.close()
      }
    },
  },
]
