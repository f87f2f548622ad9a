import { copyFileSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { temporaryDirectory } from '../../../support/directory.ts'
import { recordingOutbox } from '../recording-outbox.ts'
import { insert, insertAndTell, openLowdb, thing, thingIds, wordOf } from './support.ts'

const pendingIn = (path: string) => (JSON.parse(readFileSync(path, 'utf8')) as { pending: unknown }).pending

describe('pending events of lowdb', () => {
  test('are in the same write as the rows and are struck out by the next one', async () => {
    const path = join(temporaryDirectory(), 'db.json')
    const outbox = recordingOutbox()
    const storage = await openLowdb({ path, outbox })
    await insertAndTell(storage, thing(1))
    expect(pendingIn(path)).toEqual([[wordOf('1')]])
    await insertAndTell(storage, thing(2))
    expect(pendingIn(path)).toEqual([[wordOf('2')]])
    await insert(storage, thing(3))
    expect(pendingIn(path)).toEqual([])
    expect(outbox.commits).toEqual([[wordOf('1')], [wordOf('2')]])
    await storage.close()
  })

  test('are struck out by closing, so that a clean start repeats nothing', async () => {
    const path = join(temporaryDirectory(), 'db.json')
    const storage = await openLowdb({ path })
    await insertAndTell(storage, thing(1))
    await storage.close()
    const outbox = recordingOutbox()
    await (await openLowdb({ path, outbox })).close()
    expect(pendingIn(path)).toEqual([])
    expect(outbox.commits).toEqual([])
  })

  test('are appended again after a crash between the write and the append', async () => {
    const path = join(temporaryDirectory(), 'db.json')
    const reached = Promise.withResolvers<void>()
    const goOn = Promise.withResolvers<void>()
    const outbox = recordingOutbox()
    const stuck = {
      ...outbox,
      append: async () => {
        reached.resolve()
        await goOn.promise
      },
    }
    const storage = await openLowdb({ path, outbox: stuck })
    const commit = insertAndTell(storage, thing(1))
    await reached.promise
    // The files that a crash at this moment would leave behind.
    const afterCrash = join(temporaryDirectory(), 'db.json')
    copyFileSync(path, afterCrash)
    goOn.resolve()
    await commit
    await storage.close()

    const recovered = recordingOutbox()
    const again = await openLowdb({ path: afterCrash, outbox: recovered })
    expect(recovered.commits).toEqual([[wordOf('1')]])
    expect(await thingIds(again)).toEqual(['1'])
    await again.close()
    expect(pendingIn(afterCrash)).toEqual([])
  })

  test('wait in the file while the outbox fails, one warning is given, and the next commit takes them along in order', async () => {
    const path = join(temporaryDirectory(), 'db.json')
    const outbox = recordingOutbox()
    const warnings: string[] = []
    const storage = await openLowdb({ path, outbox, warn: (message) => warnings.push(message) })
    outbox.failure = new Error('no space left')
    await insertAndTell(storage, thing(1))
    await insertAndTell(storage, thing(2))
    expect(pendingIn(path)).toEqual([[wordOf('1')], [wordOf('2')]])
    expect(warnings).toEqual([`${path}: the outbox refuses events; they wait and are retried, none is lost: no space left`])
    outbox.failure = undefined
    await insertAndTell(storage, thing(3))
    expect(outbox.commits).toEqual([[wordOf('1')], [wordOf('2')], [wordOf('3')]])
    await storage.close()
  })

  test('are tried again without a commit', { timeout: 60_000 }, async () => {
    const outbox = recordingOutbox()
    const path = join(temporaryDirectory(), 'db.json')
    const storage = await openLowdb({ path, outbox, retryMs: 1 })
    outbox.failure = new Error('away')
    await insertAndTell(storage, thing(1))
    expect(outbox.commits).toEqual([])
    outbox.failure = undefined
    await expect.poll(() => outbox.commits, { timeout: 50_000 }).toEqual([[wordOf('1')]])
    await storage.close()
  })

  test('outlive a storage whose outbox never came back', async () => {
    const path = join(temporaryDirectory(), 'db.json')
    const outbox = recordingOutbox()
    const storage = await openLowdb({ path, outbox })
    outbox.failure = new Error('away')
    await insertAndTell(storage, thing(1))
    await storage.close()
    expect(outbox.closed).toBe(true)
    const recovered = recordingOutbox()
    await (await openLowdb({ path, outbox: recovered })).close()
    expect(recovered.commits).toEqual([[wordOf('1')]])
  })
})
