/** Transactions that only add rows, several in one commit. */
import { expect, onTestFinished, test } from 'vitest'
import { postgresStorage } from '../../../../adapters/storage/postgres.ts'
import { isStorageError, type Storage, type Tx } from '../../../../lib/storage/contract.ts'
import { id, reference, table, text } from '../../../../lib/storage/table.ts'
import { testPostgres } from '../../../support/postgres.ts'
import { proxyTo } from '../../../support/proxy.ts'
import { thing, things, wordOf } from '../things.ts'

const server = await testPostgres()
const admin = await server.client()

/** Rows below a thing. They have no unique key but their id. */
const parts = table('parts', { thing_id: reference('things', 'restrict'), parent_id: id(), name: text() })
const part = (number: number, thing_id = '1') => {
  const at = '2026-11-20T10:00:00.000Z'
  return { id: String(number), network_id: '1', created_at: at, updated_at: at, thing_id, parent_id: '7', name: `Part ${number}` }
}

/** A storage with some things, and the messages that it sends. */
async function open() {
  const proxy = await proxyTo(server.url)
  const schema = server.newSchema()
  const storage = await postgresStorage({ url: proxy.url, schema, tables: [things, parts], prepared: false })
  onTestFinished(() => storage.close())
  await storage.transaction(async (tx) => {
    await tx.insert(things, thing(1))
    await tx.insert(things, thing(2))
  })
  proxy.sent()
  return {
    proxy,
    schema,
    storage,
    /** How often one of the words was sent since the last call of `sent`. */
    count: (word: string) =>
      proxy.sent().reduce((sum, message) => sum + message.replace('READ COMMITTED', '').split(word).length - 1, 0),
    async kept() {
      const { rows } = await admin.query(
        `SELECT r->>'event_id' AS id FROM ${schema}.outbox, json_array_elements(records::json) AS r ORDER BY 1`,
      )
      const found = await storage.transaction((tx) => tx.find(parts, {}), { readOnly: true })
      return { parts: found.map(({ id }) => id), events: rows.map(({ id }) => String(id)) }
    },
  }
}

function adding<T>({ fast }: Storage, work: (tx: Tx) => Promise<T>): Promise<T> {
  if (!fast?.add) throw new Error('the storage has no fast way to add')
  return fast.add(work)
}

/** Adds a part below its thing; `undefined` if that is missing. */
async function addBelow(tx: Tx, row: ReturnType<typeof part>) {
  const parent = await tx.lock(things, row.thing_id, 'share')
  return parent && tx.insert(parts, row)
}

/** Adds a part and its event; `undefined` if its thing is missing. */
const addAndTell = (storage: Storage, id: number, thing_id?: string) =>
  adding(storage, async (tx) => {
    const added = await addBelow(tx, part(id, thing_id))
    if (added) await tx.append([wordOf(id)])
    return added?.id
  })

/** The ends of several transactions: their values, or the codes of their errors. */
const endsOf = async (all: readonly Promise<unknown>[]) =>
  (await Promise.allSettled(all)).map((each) => {
    if (each.status === 'fulfilled') return each.value
    return isStorageError(each.reason) ? each.reason.code : String(each.reason.message)
  })

const all = { parts: ['1', '2', '3'], events: ['1', '2', '3'] }
const without2 = { parts: ['1', '3'], events: ['1', '3'] }

test('additions of one turn share a commit', async () => {
  const { storage, kept, count } = await open()
  expect(await endsOf([1, 2, 3].map((id) => addAndTell(storage, id)))).toEqual(['1', '2', '3'])
  expect(count('COMMIT')).toBe(1)
  expect(await kept()).toEqual(all)
})

test('additions of two turns, one after the other, share a commit', async () => {
  const { storage, count } = await open()
  const first = addAndTell(storage, 1)
  await new Promise((resolve) => setImmediate(resolve))
  expect(await endsOf([first, addAndTell(storage, 2)])).toEqual(['1', '2'])
  expect(count('COMMIT')).toBe(1)
})

/** Enough of them that their rows are added by one statement. */
const many = [1, 2, 3, 4, 5, 6]

test('the rows of many additions are one statement, and so are the locks of their parents', async () => {
  const { storage, schema, kept, proxy } = await open()
  expect(await endsOf(many.map((id) => addAndTell(storage, id, id < 4 ? '1' : '2')))).toEqual(many.map(String))
  const words = proxy.sent().join()
  expect(words.split(`INSERT INTO "${schema}"."parts"`)).toHaveLength(2)
  expect(words.split('FOR SHARE')).toHaveLength(2)
  expect(await kept()).toEqual({ parts: many.map(String), events: many.map(String) })
})

test('of many additions, one whose parent is missing and one whose id is taken leave the others alone', async () => {
  const { storage, kept } = await open()
  const parents = ['1', '2', '9', '1', '2', '1']
  const ends = await endsOf([...many.map((id) => addAndTell(storage, id, parents[id - 1])), addAndTell(storage, 1)])
  expect(ends.toSorted()).toEqual(['1', '2', '4', '5', '6', undefined, 'unique'].toSorted())
  expect(await kept()).toEqual({ parts: ['1', '2', '4', '5', '6'], events: ['1', '2', '4', '5', '6'] })
})

test('of many additions, one that the database refuses fails alone', async () => {
  const { storage, schema, kept } = await open()
  await admin.query(`ALTER TABLE ${schema}.parts ADD CHECK (name <> 'Part 2')`)
  const ends = await endsOf(many.map((id) => addAndTell(storage, id)))
  expect(ends).toEqual(['1', expect.stringContaining('constraint'), '3', '4', '5', '6'])
  expect((await kept()).parts).toEqual(['1', '3', '4', '5', '6'])
})

test('values of every kind come back as they were, from many additions as from one', async () => {
  const { storage } = await open()
  const rows = many.map((id) => ({ ...part(id), name: ['"', '\\', '{a,b}', 'NULL', '', 'é\n☀'][id - 1] ?? '' }))
  await endsOf(rows.map((row) => adding(storage, (tx) => addBelow(tx, row))))
  expect(await storage.transaction((tx) => tx.find(parts, {}), { readOnly: true })).toEqual(rows)
})

test('additions that arrive while groups run are gathered for the next one', async () => {
  const { storage, count } = await open()
  const ids = Array.from({ length: 90 }, (_, place) => place + 1)
  const later = addAndTell(storage, 1000).then(() => Promise.all(ids.map((id) => addAndTell(storage, id))))
  expect(await later).toEqual(ids.map(String))
  expect(count('COMMIT')).toBeLessThan(10)
})

test('an addition whose parent is locked waits alone, and the others commit', async () => {
  const { storage, schema, kept } = await open()
  await admin.query('BEGIN')
  await admin.query(`SELECT 1 FROM ${schema}.things WHERE id = 2 FOR UPDATE`)
  const [first, locked, third] = [addAndTell(storage, 1), addAndTell(storage, 2, '2'), addAndTell(storage, 3)]
  expect(await endsOf([first, third])).toEqual(['1', '3'])
  expect(await kept()).toEqual(without2)
  await admin.query('COMMIT')
  expect(await locked).toBe('2')
  expect(await kept()).toEqual(all)
})

test('an addition whose parent is missing stores nothing, and leaves the others alone', async () => {
  const { storage, kept } = await open()
  const ends = await endsOf([addAndTell(storage, 1), addAndTell(storage, 2, '9'), addAndTell(storage, 3)])
  expect(ends).toEqual(['1', undefined, '3'])
  expect(await kept()).toEqual(without2)
})

test('a lock with `share` of a row that is locked waits alone', async () => {
  const { storage, schema } = await open()
  await admin.query('BEGIN')
  await admin.query(`SELECT 1 FROM ${schema}.things WHERE id = 2 FOR UPDATE`)
  const locked = adding(storage, async (tx) => (await tx.lock(things, '2', 'share'))?.name)
  expect(await adding(storage, async (tx) => (await tx.lock(things, '1', 'share'))?.name)).toBe('Thing 1')
  await admin.query('COMMIT')
  expect(await locked).toBe('Thing 2')
})

test('work that fails after it has added a row undoes itself alone', async () => {
  const { storage, kept } = await open()
  const failing = adding(storage, async (tx) => {
    await tx.insert(parts, part(2))
    await tx.append([wordOf(2)])
    throw new Error('no')
  })
  expect(await endsOf([addAndTell(storage, 1), failing, addAndTell(storage, 3)])).toEqual(['1', 'no', '3'])
  expect(await kept()).toEqual(without2)
})

test('work that fails before it adds a row fails once', async () => {
  const { storage, kept } = await open()
  let runs = 0
  const failing = adding(storage, async (tx) => {
    runs++
    await tx.get(things, '1')
    throw new Error('no')
  })
  expect(await endsOf([addAndTell(storage, 1), failing, addAndTell(storage, 3)])).toEqual(['1', 'no', '3'])
  expect({ runs, kept: await kept() }).toEqual({ runs: 1, kept: without2 })
})

test('two additions of one id: one gets it, the other one a violation', async () => {
  const { storage, kept } = await open()
  const ends = await endsOf([addAndTell(storage, 1), addAndTell(storage, 1), addAndTell(storage, 3)])
  expect(ends.toSorted()).toEqual(['1', '3', 'unique'])
  expect(await kept()).toEqual(without2)
})

test.for<[string, (tx: Tx) => Promise<unknown>]>([
  ['changes a row', (tx) => tx.update(things, '1', { size: 5 })],
  ['adds to a row', (tx) => tx.increment(things, '1', { size: 5 })],
  ['changes a key', (tx) => tx.update(things, '1', { name: 'New' })],
  ['removes a row', (tx) => tx.remove(things, '2')],
  ['locks a row with `update`', (tx) => tx.lock(things, '1', 'update')],
  ['adds a row with a key of its own', (tx) => tx.insert(things, thing(4))],
  ['uses the connection', async (tx) => (tx.native as typeof admin).query('SELECT 1')],
])('work that %s is run alone', async ([, more]) => {
  const { storage, kept } = await open()
  let runs = 0
  const doingMore = adding(storage, async (tx) => {
    runs++
    await more(tx)
    await tx.insert(parts, part(2))
    return 'more'
  })
  expect(await endsOf([addAndTell(storage, 1), doingMore, addAndTell(storage, 3)])).toEqual(['1', 'more', '3'])
  expect(runs).toBe(2)
  expect(await kept()).toEqual({ parts: ['1', '2', '3'], events: ['1', '3'] })
})

test('work that does more after it has added a row happens once, and so do the others', async () => {
  const { storage, kept } = await open()
  const doingMore = adding(storage, async (tx) => {
    await tx.insert(parts, part(2))
    await tx.increment(things, '1', { size: 5 })
    await tx.append([wordOf(2)])
  })
  expect(await endsOf([addAndTell(storage, 1), doingMore, addAndTell(storage, 3)])).toEqual(['1', undefined, '3'])
  expect(await kept()).toEqual(all)
  const [first] = await storage.transaction((tx) => tx.find(things, {}), { readOnly: true })
  expect(first?.size).toBe(5)
})

test('an event that the outbox refuses undoes its own addition only', async () => {
  const { storage, schema, kept } = await open()
  await admin.query(`ALTER TABLE ${schema}.outbox ADD CHECK (records::text NOT LIKE '%"event_id":"2"%')`)
  const ends = await endsOf([1, 2, 3].map((id) => addAndTell(storage, id)))
  expect(ends).toEqual(['1', expect.stringContaining('constraint'), '3'])
  expect(await kept()).toEqual(without2)
})

test('a value that the database refuses undoes its own addition only', async () => {
  const { storage, schema, kept } = await open()
  await admin.query(`ALTER TABLE ${schema}.parts ADD CHECK (name <> 'Part 2')`)
  const ends = await endsOf([1, 2, 3].map((id) => addAndTell(storage, id)))
  expect(ends).toEqual(['1', expect.stringContaining('constraint'), '3'])
  expect(await kept()).toEqual(without2)
})

test('a COMMIT whose answer is lost is unknown to all of its group, and nothing happens twice', async () => {
  const { storage, proxy, kept } = await open()
  proxy.loseCommits('"event_id":"2"', 'answer', 1)
  expect(await endsOf([1, 2, 3].map((id) => addAndTell(storage, id)))).toEqual(['unknown', 'unknown', 'unknown'])
  expect(await kept()).toEqual(all)
})

test('a connection that is lost before the COMMIT costs nobody an answer', async () => {
  const { storage, proxy, kept } = await open()
  let runs = 0
  const cutting = adding(storage, async (tx) => {
    await tx.get(things, '1')
    if (runs++ === 0) {
      proxy.cut()
      proxy.mend()
    }
    await addBelow(tx, part(2))
    await tx.append([wordOf(2)])
    return '2'
  })
  const ends = await endsOf([addAndTell(storage, 1), cutting, addAndTell(storage, 3)])
  // Alone, work whose connection is lost is run again by the library.
  expect(ends).toEqual(['1', '2', '3'])
  expect(await kept()).toEqual(all)
})

test('additions reach no other transaction before their commit', async () => {
  const { storage, kept } = await open()
  const { promise: looked, resolve } = Promise.withResolvers<void>()
  const slow = adding(storage, async (tx) => {
    await addBelow(tx, part(1))
    await looked
  })
  const added = addAndTell(storage, 3)
  const before = await storage.transaction((tx) => tx.find(parts, {}), { readOnly: true })
  resolve()
  await Promise.all([slow, added])
  expect(before).toEqual([])
  expect((await kept()).parts).toEqual(['1', '3'])
})
