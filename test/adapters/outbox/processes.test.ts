import { readdirSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { outboxDirectory } from '../../../adapters/outbox/file.ts'
import { temporaryDirectory } from '../../support/directory.ts'
import { readAll } from './support.ts'
import { writeUntilKilled } from './writer-process.ts'

describe('an outbox with many processes', () => {
  test('holds everything that killed writers had acknowledged', { timeout: 60_000 }, async () => {
    const directory = temporaryDirectory()
    const acknowledged: string[] = []
    for (let round = 0; round < 6; round++)
      acknowledged.push(...(await writeUntilKilled(directory, `w${round}`, 20 + round * 37)))
    const source = outboxDirectory(directory)
    const { ids, positions } = await readAll(source)
    expect(acknowledged.filter((id) => !ids.includes(id))).toEqual([])
    expect(new Set(ids).size).toBe(ids.length)
    await source.settle(positions)
    expect(readdirSync(directory).filter((name) => !name.endsWith('.broken'))).toEqual([])
  })

  test('takes two concurrent writers, each in its own order, while it is read and cleared', { timeout: 60_000 }, async () => {
    const directory = temporaryDirectory()
    const source = outboxDirectory(directory)
    const read: string[] = []
    let positions: Record<string, number> = {}
    let running = true
    const reading = (async () => {
      for (let last = false; !last; ) {
        last = !running
        const found = await readAll(source, positions, 10_000)
        read.push(...found.ids)
        positions = found.positions
        for (const name of await source.settle(positions)) delete positions[name]
      }
    })()
    const acknowledged = await Promise.all([writeUntilKilled(directory, 'a', 600), writeUntilKilled(directory, 'b', 600)])
    running = false
    await reading
    const missing = acknowledged.flat().filter((id) => !read.includes(id))
    expect(missing).toEqual([])
    expect(new Set(read).size).toBe(read.length)
    for (const prefix of ['a', 'b']) {
      const order = read.filter((id) => id.startsWith(prefix)).map((id) => Number(id.split('-')[1]))
      expect(order).toEqual([...order].sort((one, other) => one - other))
    }
  })
})
