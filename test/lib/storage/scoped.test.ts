/**
 * A transaction of one network against the rows of another and against rows that are added for good. Every method is tried on
 * every table: the list of methods is read from the transaction itself, so a new one fails here until it is tried, too.
 */
import { describe, expect, test } from 'vitest'
import type { OutboxRecord } from '../../../lib/outbox/record.ts'
import * as cascade from '../../../lib/storage/cascade.ts'
import { within } from '../../../lib/storage/conditions.ts'
import type { Tx } from '../../../lib/storage/contract.ts'
import * as walking from '../../../lib/storage/rows-of.ts'
import { type HostTx, hostScoped, scoped } from '../../../lib/storage/scoped.ts'
import type { Row, Table } from '../../../lib/storage/table.ts'
import { audit } from '../../../lib/storage/tables/administration.ts'
import { tables } from '../../../lib/storage/tables.ts'
import { testStorage } from '../../support/engines.ts'

const all = tables as readonly Table<Row>[]
const lines = audit as Table<Row>
const at = '2026-11-20T10:00:00.000Z'
const later = { updated_at: '2026-11-21T10:00:00.000Z' }
const [here, there] = ['1', '2']
/** What the compiler refuses: it must be refused when it runs, too. */
const moved: object = { network_id: there }
const renamed: object = { id: '77' }
const theirs: object = { network_id: there }
const added: object = { network_id: 1 }
const renumbered: object = { id: 1 }

function columnOf(name: string, type: string, number: number): unknown {
  if (type === 'id') return String(number)
  if (type === 'text') return `${name} ${number}`
  if (type === 'timestamp') return at
  if (type === 'boolean') return false
  return type === 'json' ? [] : number
}

/** A row with a value in every column. */
const rowOf = ({ columns }: Table<Row>, number: number, network_id: string): Row =>
  ({
    ...Object.fromEntries(Object.entries(columns).map(([name, { type }]) => [name, columnOf(name, type, number)])),
    ...{ id: String(number), network_id },
  }) as unknown as Row

const own = '11'
const foreign = ['21', '22']

async function setUp() {
  const storage = await testStorage({ append: async () => {}, close: async () => {} })
  await storage.transaction(async (tx) => {
    for (const table of all) {
      await tx.insert(table, rowOf(table, Number(own), here))
      for (const id of foreign) await tx.insert(table, rowOf(table, Number(id), there))
    }
  })
  const read = (table: Table<Row>, where: object) => storage.transaction((tx) => tx.find(table, { where }), { readOnly: true })
  return { storage, read }
}

const doors: readonly {
  readonly name: string
  readonly open: (tx: Tx, network_id: string) => HostTx
  readonly isHost: boolean
}[] = [
  // The methods of the host are not in it: no test below calls one that the list of its names does not have.
  { name: 'of a handler or a hook', open: scoped as typeof hostScoped, isHost: false },
  { name: 'of the host’s own functions', open: hostScoped, isHost: true },
]

/** The methods and properties that a caller finds. */
function namesOf(tx: object): string[] {
  const names = new Set<string>()
  for (let each = tx; each !== Object.prototype; each = Object.getPrototypeOf(each))
    for (const name of Object.getOwnPropertyNames(each)) names.add(name)
  names.delete('constructor')
  return [...names].toSorted()
}

type Try = (tx: HostTx, table: Table<Row>) => Promise<unknown>
/** Each with what it gives. `refused` is a TypeError. */
type Tries = readonly (readonly [given: unknown, attempt: Try])[]

const refused = expect.any(TypeError)
const ownId = expect.objectContaining({ id: own, network_id: here })

const event = (network_id: string): OutboxRecord => ({
  ...{ kind: 'event', network_id, event_id: 'a', event_type: 'PostCreatedHook', event_timestamp: at },
  ...{ audience: 'integration', body: '{}' },
})
const removal = (network_id: string): OutboxRecord => ({ kind: 'endpoint', action: 'remove', id: own, network_id })
const erasure = (network_id: string): OutboxRecord => ({ kind: 'erasure', network_id, ids: [own] })

/** Of every method, tries to reach a row of the other network. */
const reaching: { readonly [Name in keyof HostTx]: Tries } = {
  get: [[undefined, (tx, table) => tx.get(table, '21')]],
  find: [
    [[ownId], (tx, table) => tx.find(table, {})],
    [[ownId], (tx, table) => tx.find(table, { where: theirs })],
    [[ownId], (tx, table) => tx.find(table, { where: { network_id: [here, there] } })],
    [[], (tx, table) => tx.find(table, { where: { id: foreign } })],
    [[], (tx, table) => tx.find(table, { after: own, limit: 5 })],
    [[ownId], (tx, table) => tx.find(table, { order: { by: 'id', direction: 'desc' } })],
    [[ownId], (tx, table) => tx.find(table, { ranges: { id: { from: '0' } } })],
    // Rows of the other network name nothing.
    [[ownId], (tx, table) => tx.find(table, { within: [within(table, 'id', theirs)] })],
    [[], (tx, table) => tx.find(table, { within: [within(table, 'id', { id: foreign })] })],
  ],
  first: [
    [undefined, (tx, table) => tx.first(table, { id: '21' })],
    [undefined, (tx, table) => tx.first(table, { id: '21', network_id: there })],
  ],
  count: [
    [1, (tx, table) => tx.count(table, {})],
    [1, (tx, table) => tx.count(table, { where: theirs })],
    [0, (tx, table) => tx.count(table, { where: { id: foreign } })],
    [0, (tx, table) => tx.count(table, { within: [within(table, 'id', { id: foreign })] })],
  ],
  insert: [
    [
      expect.objectContaining({ id: '31', network_id: here }),
      (tx, table) => tx.insert<Row, unknown>(table, rowOf(table, 31, there)),
    ],
    [expect.objectContaining({ code: 'unique' }), (tx, table) => tx.insert<Row, unknown>(table, rowOf(table, 21, here))],
  ],
  update: [
    [undefined, (tx, table) => tx.update(table, '21', {})],
    [undefined, (tx, table) => tx.update(table, '21', later)],
    [undefined, (tx, table) => tx.update(table, '21', later, theirs)],
    [undefined, (tx, table) => tx.update(table, '21', { created_at: later.updated_at }, theirs)],
    [refused, (tx, table) => tx.update(table, own, moved)],
    [refused, (tx, table) => tx.update(table, own, { ...later, ...moved })],
    [refused, (tx, table) => tx.update(table, own, renamed)],
  ],
  touch: [
    [undefined, (tx, table) => tx.touch(table, '21', later)],
    [refused, (tx, table) => tx.touch(table, own, { ...later, ...moved })],
    [refused, (tx, table) => tx.touch(table, own, { ...later, ...renamed })],
  ],
  increment: [
    [undefined, (tx, table) => tx.increment(table, '21', {})],
    [undefined, (tx, table) => tx.increment(table, '21', {}, theirs)],
    [refused, (tx, table) => tx.increment(table, own, added)],
    [refused, (tx, table) => tx.increment(table, own, renumbered)],
  ],
  remove: [
    [undefined, (tx, table) => tx.remove(table, '21')],
    [undefined, (tx, table) => tx.remove(table, '21', theirs)],
  ],
  lock: [
    [undefined, (tx, table) => tx.lock(table, '21', 'share')],
    [undefined, (tx, table) => tx.lock(table, '21', 'update')],
  ],
  redact: [
    [undefined, (tx, table) => tx.redact(table, '21', later)],
    [refused, (tx, table) => tx.redact(table, own, moved)],
    [refused, (tx, table) => tx.redact(table, own, renamed)],
  ],
  append: [
    ...[event, removal, erasure].map((record) => [refused, (tx: HostTx) => tx.append([record(there)])] as const),
    [refused, (tx) => tx.append([event(here), event(there)])],
    [undefined, (tx) => tx.append([event(here), removal(here), erasure(here)])],
  ],
  network_id: [
    [here, async (tx) => tx.network_id],
    [refused, async (tx) => Object.assign(tx, moved)],
  ],
  changes: [[0, async (tx) => tx.changes]],
  // The database's own handle reaches everything: it is the host's.
  native: [],
}

/** Writes that a table whose rows are added for good refuses. */
const writes = new Set(['insert', 'update', 'touch', 'increment', 'remove'])
/** The methods that only the host's own functions have. */
const hostOnly = ['append', 'redact']

describe.each(doors)('a transaction $name', ({ open, isHost }) => {
  test('has no method that is not tried here', async () => {
    const { storage } = await setUp()
    const names = await storage.transaction(async (tx) => namesOf(open(tx, here)))
    expect(names).toEqual(
      Object.keys(reaching)
        .filter((name) => isHost || !hostOnly.includes(name))
        .toSorted(),
    )
  })

  const methods = Object.entries(reaching).filter(([name]) => isHost || !hostOnly.includes(name))

  test.each(methods)('reaches no row of another network by %s', async (method, tries) => {
    const { storage, read } = await setUp()
    for (const table of all) {
      const before = await read(table, { network_id: there })
      const entries = await read(lines, {})
      for (const [given, attempt] of tries) {
        // A violation ends a transaction, so each has its own; nothing stays of it, so that the next one finds the same rows.
        let outcome: unknown
        const undone = new Error('undone')
        const run = storage.transaction(async (tx) => {
          outcome = await attempt(open(tx, here), table).catch((error: unknown) => error)
          expect(await tx.find(table, { where: { network_id: there } }).catch(() => before)).toEqual(before)
          if (!isHost) expect(await tx.find(lines, {}).catch(() => entries)).toEqual(entries)
          throw undone
        })
        await expect(run).rejects.toBe(undone)
        expect(outcome, `${table.name}: ${attempt}`).toEqual(expectation(method, table, given))
      }
    }
  })

  function expectation(method: string, { appendOnly }: Table<Row>, given: unknown): unknown {
    if (method === 'redact') return appendOnly ? given : refused
    const isRefused = appendOnly && writes.has(method) && !(isHost && method === 'insert')
    return isRefused ? refused : given
  }

  test('changes no row that was added for good', async () => {
    const { storage, read } = await setUp()
    const before = await read(lines, {})
    const attempts: Tries = [
      [refused, (tx) => tx.update(audit, own, { actor: 'mallory' })],
      [refused, (tx) => tx.update(audit, own, {})],
      [refused, (tx) => tx.touch(audit, own, later)],
      [refused, (tx) => tx.increment(audit, own, {})],
      [refused, (tx) => tx.remove(audit, own)],
      ...(isHost ? [] : [[refused, (tx: HostTx) => tx.insert<Row, unknown>(lines, rowOf(lines, 31, here))] as const]),
    ]
    for (const [given, attempt] of attempts)
      expect(await storage.transaction((tx) => attempt(open(tx, here), lines)).catch((error: unknown) => error)).toEqual(given)
    expect(await read(lines, {})).toEqual(before)
  })
})

test('the host’s own functions add such a row, and redact it', async () => {
  const { storage, read } = await setUp()
  await storage.transaction(async (storageTx) => {
    const tx = hostScoped(storageTx, here)
    await tx.insert<Row, unknown>(lines, rowOf(lines, 31, here))
    expect(await tx.redact(audit, own, { subject_name: null })).toMatchObject({ id: own, subject_name: null })
  })
  expect((await read(lines, { network_id: here })).map(({ id }) => id)).toEqual([own, '31'])
})

/** Of every function that walks or removes rows, what it does to those of the other network. */
const helpers: Readonly<Record<string, Try | undefined>> = {
  async batchesOf(tx, table) {
    const seen: Row[] = []
    for await (const rows of walking.batchesOf(tx, table, theirs)) seen.push(...rows)
    return seen.every(({ network_id }) => network_id === here)
  },
  async rowsOf(tx, table) {
    const seen: Row[] = []
    for await (const row of walking.rowsOf(tx, table, { id: foreign })) seen.push(row)
    return seen.length === 0
  },
  async rowsNamed(tx, table) {
    const rows = [...foreign, own, null].map((id) => ({ id }))
    const named = await walking.rowsNamed(tx, table, 'id', rows)
    return [...named.values()].every(({ network_id }) => network_id === here)
  },
  removeDependents: async (tx, table) => (await cascade.removeDependents(tx, table, '21')) === undefined,
  removeWithDependents: async (tx, table) =>
    table.appendOnly || (await cascade.removeWithDependents(tx, table, '21')) === undefined,
}

test('no function that walks or removes rows reaches another network', async () => {
  const functions = Object.entries({ ...walking, ...cascade }).filter(([, value]) => typeof value === 'function')
  expect(Object.keys(helpers).toSorted()).toEqual(functions.map(([name]) => name).toSorted())
  const { storage, read } = await setUp()
  for (const [name, helper] of Object.entries(helpers))
    for (const table of all) {
      const before = await Promise.all(all.map((each) => read(each, { network_id: there })))
      await storage.transaction(async (tx) => expect(await helper?.(hostScoped(tx, here), table), name).toBe(true))
      expect(await Promise.all(all.map((each) => read(each, { network_id: there }))), `${name} ${table.name}`).toEqual(before)
    }
})
