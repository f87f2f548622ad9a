import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { outboxDirectory } from '../../../../adapters/outbox/file.ts'
import { temporaryDirectory } from '../../../support/directory.ts'
import { rounds as roundsOf } from '../../../support/rounds.ts'
import { startChild } from '../../child.ts'
import { readAll } from '../../outbox/support.ts'
import { recordingOutbox } from '../recording-outbox.ts'
import { openLowdb, thingIds } from './support.ts'

const patience = { timeout: 180_000 }
const rounds = roundsOf(2, 12)

describe('lowdb and processes', () => {
  test('kill -9 at any moment loses nothing acknowledged, row or event, and leaves a whole file', patience, async () => {
    const directory = temporaryDirectory()
    const path = join(directory, 'db.json')
    const acknowledged: string[] = []
    for (let round = 0; round < rounds; round++) {
      const child = startChild('lowdb-write-for-ever', [directory, String(1 + round * 100_000)])
      await child.lines(10 + round * 7)
      // Not right after an acknowledgement every time, but at any point of a write.
      await setTimeout(Math.random() * 15)
      await child.kill()
      acknowledged.push(...(await child.lines(0)))
      expect(JSON.parse(readFileSync(path, 'utf8'))).toMatchObject({ folkmoot: 1 })
    }

    const reappended = recordingOutbox()
    const storage = await openLowdb({ path, outbox: reappended })
    const stored = new Set(await thingIds(storage))
    await storage.close()
    const { ids } = await readAll(outboxDirectory(join(directory, 'outbox')))
    const told = new Set([...ids, ...(await reappended.records()).map((record) => 'event_id' in record && record.event_id)])

    expect(acknowledged.length).toBeGreaterThan(rounds * 10)
    expect(acknowledged.filter((id) => !stored.has(id))).toEqual([])
    // Every stored thing was confirmed, and nothing that was not stored.
    expect([...told].sort()).toEqual([...stored].filter((id) => id !== '0').sort())
  })

  test('a second process is refused and shown what to do, and the first works on', patience, async () => {
    const directory = temporaryDirectory()
    const path = join(directory, 'db.json')
    const first = startChild('lowdb-write-for-ever', [directory, '1'])
    await first.lines(3)
    await expect(openLowdb({ path })).rejects.toMatchObject({
      code: 'locked',
      message:
        `${path} is held by process ${first.pid} (lowdb storage); a lowdb file belongs to one process: ` +
        'use the API of that process, give each process its own file, or choose sqlite or postgres',
    })
    const before = (await first.lines(0)).length
    expect((await first.lines(before + 30)).length).toBeGreaterThan(before)
    await first.kill()

    const storage = await openLowdb({ path })
    expect(await thingIds(storage)).toEqual(expect.arrayContaining([...(await first.lines(0))]))
    await storage.close()
  })

  test('the same process is refused as well', async () => {
    const path = join(temporaryDirectory(), 'db.json')
    const storage = await openLowdb({ path })
    await expect(openLowdb({ path })).rejects.toMatchObject({
      code: 'locked',
      message: expect.stringMatching(
        /is held by this process \(lowdb storage\); a lowdb file is opened once: close the first storage/,
      ),
    })
    await storage.close()
    await (await openLowdb({ path })).close()
  })
})
