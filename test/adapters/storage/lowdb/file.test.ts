import { mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { defaultsTo, integer, nullable, table, text } from '../../../../lib/storage/table.ts'
import { temporaryDirectory } from '../../../support/directory.ts'
import { insert, openLowdb, thing, thingIds, things } from './support.ts'

/** A file with this content, in a separate directory. */
function fileWith(content: string | Uint8Array): string {
  const path = join(temporaryDirectory(), 'db.json')
  writeFileSync(path, content)
  return path
}

const content = (path: string): unknown => JSON.parse(readFileSync(path, 'utf8'))
const beside = (path: string) => readdirSync(join(path, '..')).sort()
const empty = { folkmoot: 1, tables: {}, pending: [] }

describe('a lowdb file', () => {
  test('is compact JSON of the documented shape that only its owner may read', async () => {
    const path = join(temporaryDirectory(), 'data', 'db.json')
    const storage = await openLowdb({ path })
    await insert(storage, thing(1))
    await storage.close()
    const expected = { folkmoot: 1, tables: { things: [thing(1)] }, pending: [] }
    expect(readFileSync(path, 'utf8')).toBe(JSON.stringify(expected))
    expect(statSync(path).mode & 0o777).toBe(0o600)
    expect(beside(path)).toEqual(['db.json'])
  })

  const whole = JSON.stringify({ ...empty, tables: { things: [thing(1)] } })
  test.for([
    ['is empty', ''],
    ['is not JSON', 'name,e-mail\nA,a@example.org\n'],
    ['breaks off', whole.slice(0, -20)],
    ['is not UTF-8', Buffer.concat([Buffer.from(whole.slice(0, -20)), Buffer.from([0xff]), Buffer.from(whole.slice(-20))])],
    ['is JSON of something else', '{"posts":[]}'],
    ['is a list', '[]'],
    ['has an impossible format', JSON.stringify({ ...empty, folkmoot: 'one' })],
    ['has no tables', JSON.stringify({ folkmoot: 1, pending: [] })],
    ['has a table that is no list', JSON.stringify({ ...empty, tables: { things: {} } })],
    ['has a row without an id', JSON.stringify({ ...empty, tables: { things: [{ name: 'x' }] } })],
    ['has two rows with one id', JSON.stringify({ ...empty, tables: { things: [thing(1), thing(1)] } })],
    ['has pending events that are none', JSON.stringify({ ...empty, pending: [['hello']] })],
  ] as const)('that %s is refused and left alone', async ([, damaged]) => {
    const path = fileWith(damaged)
    const before = readFileSync(path)
    await expect(openLowdb({ path })).rejects.toMatchObject({
      code: 'damaged',
      message: expect.stringMatching(/db\.json cannot be used: .+\. It was left as it is; restore a backup, or move it away/),
    })
    expect(readFileSync(path).equals(before)).toBe(true)
    expect(beside(path)).toEqual(['db.json'])
  })

  test('of a newer format is refused and left alone', async () => {
    const newer = JSON.stringify({ folkmoot: 2, rows: 'somewhere else' })
    const path = fileWith(newer)
    await expect(openLowdb({ path })).rejects.toMatchObject({
      code: 'newer',
      message: `${path} was written by a newer version of folkmoot (format 2; this one reads 1): update folkmoot, or open another file`,
    })
    expect(readFileSync(path, 'utf8')).toBe(newer)
  })

  test('that is a directory cannot be opened', async () => {
    const path = join(temporaryDirectory(), 'db.json')
    mkdirSync(path)
    await expect(openLowdb({ path })).rejects.toMatchObject({ code: 'unavailable', message: expect.stringContaining(path) })
  })

  test('keeps tables that this version does not know', async () => {
    const future = [{ id: '1', shape: { of: 'things to come' } }]
    const path = fileWith(JSON.stringify({ ...empty, tables: { future, things: [thing(1)] } }))
    const storage = await openLowdb({ path })
    await insert(storage, thing(2))
    await insert(storage, thing(3))
    await storage.close()
    expect(content(path)).toEqual({ ...empty, tables: { future, things: [thing(1), thing(2), thing(3)] } })
  })

  test('of an older version gets the default of columns that came later', async () => {
    const path = fileWith(JSON.stringify({ ...empty, tables: { things: [thing(1)] } }))
    const grown = table('things', { name: text(), size: integer(), colour: defaultsTo(text(), 'grey'), note: nullable(text()) })
    const storage = await openLowdb({ path })
    const found = await storage.transaction((tx) => tx.find(grown, { where: { colour: 'grey', note: null } }))
    expect(found).toEqual([{ ...thing(1), colour: 'grey', note: null }])
    await storage.close()
  })

  test('whose rows break a unique key is refused with a sentence and loses nothing', async () => {
    const before = JSON.stringify({ ...empty, tables: { things: [thing(1, { name: 'x' }), thing(2, { name: 'x' })] } })
    const path = fileWith(before)
    const storage = await openLowdb({ path })
    await expect(thingIds(storage)).rejects.toMatchObject({ code: 'damaged', message: expect.stringContaining('things') })
    await storage.close()
    expect(readFileSync(path, 'utf8')).toBe(before)
  })

  test('that is reached by a link stays where it is', async () => {
    const path = fileWith(JSON.stringify(empty))
    const link = join(temporaryDirectory(), 'link.json')
    symlinkSync(path, link)
    const storage = await openLowdb({ path: link })
    await insert(storage, thing(1))
    await storage.close()
    expect(content(path)).toMatchObject({ tables: { things: [thing(1)] } })
    expect(beside(link)).toEqual(['link.json'])
  })

  test('that a crash left half-written next to the whole one is removed', async () => {
    const path = fileWith(JSON.stringify({ ...empty, tables: { things: [thing(1)] } }))
    writeFileSync(`${path}.tmp`, '{"folkmoot":1,"tab')
    const storage = await openLowdb({ path })
    expect(beside(path)).not.toContain('db.json.tmp')
    expect(await thingIds(storage)).toEqual(['1'])
    await storage.close()
  })

  test('that has grown past 16 MiB is warned of once', { timeout: 120_000 }, async () => {
    const path = join(temporaryDirectory(), 'db.json')
    const warnings: string[] = []
    const storage = await openLowdb({ path, warn: (message) => warnings.push(message) })
    await storage.transaction(async (tx) => {
      for (let id = 1; id <= 17; id++) await tx.insert(things, thing(id, { name: `${id}`.padEnd(1024 * 1024, 'x') }))
    })
    await insert(storage, thing(18))
    await storage.close()
    expect(warnings).toEqual([
      `${path} has grown to 17 MiB and every commit writes all of it; above 16 MiB choose sqlite or postgres`,
    ])
  })
})
