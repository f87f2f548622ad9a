/** Errors that real databases give, and what they mean: by their codes. */
import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, onTestFinished, test } from 'vitest'
import { isRecordsFault } from '../../../adapters/sql/faults.ts'
import * as ofPostgres from '../../../adapters/sql/postgres/errors.ts'
import { openPool } from '../../../adapters/sql/postgres/pool.ts'
import { send } from '../../../adapters/sql/postgres/wire/send.ts'
import { whileBusy } from '../../../adapters/sql/sqlite/busy.ts'
import { openConnection } from '../../../adapters/sql/sqlite/connection.ts'
import * as ofSqlite from '../../../adapters/sql/sqlite/errors.ts'
import { temporaryDirectory } from '../../support/directory.ts'
import { testPostgres } from '../../support/postgres.ts'

const thrown = async (work: () => unknown): Promise<unknown> => {
  try {
    await work()
  } catch (error) {
    return error
  }
  throw new Error('nothing was thrown')
}

describe('sqlite', () => {
  const open = (path = join(temporaryDirectory(), 'db.sqlite')) => {
    const database = new DatabaseSync(path, { timeout: 1 })
    onTestFinished(() => {
      if (database.isOpen) database.close()
    })
    return { database, path }
  }
  const sql = (...statements: readonly string[]) =>
    thrown(() => {
      const { database } = open()
      for (const statement of statements) database.exec(statement)
    })
  const table = 'CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT UNIQUE NOT NULL) STRICT'

  test('a key that is taken, and other trouble with a value, are distinguished', async () => {
    const twice = await sql(table, "INSERT INTO t VALUES (1, 'a')", "INSERT INTO t VALUES (2, 'a')")
    const sameId = await sql(table, "INSERT INTO t VALUES (1, 'a')", "INSERT INTO t VALUES (1, 'b')")
    const missing = await sql(table, 'INSERT INTO t VALUES (1, NULL)')
    const text = await sql(table, "INSERT INTO t VALUES ('one', 'a')")
    expect([twice, sameId, missing, text].map(ofSqlite.faultOf)).toEqual(['unique', 'unique', 'value', 'value'])
    for (const error of [twice, missing, text]) expect(isRecordsFault(error, ofSqlite.faultOf(error))).toBe(true)
  })

  test('a file that another connection holds is busy, and waited for until it is free', async () => {
    const { database: holder, path } = open()
    const { database } = open(path)
    holder.exec('BEGIN IMMEDIATE')
    const error = await thrown(() => database.exec('BEGIN IMMEDIATE'))
    expect(ofSqlite.faultOf(error)).toBe('busy')
    expect(ofSqlite.storageErrorOf(error, path)).toMatchObject({ code: 'unavailable', message: expect.stringContaining(path) })
    expect(ofSqlite.faultOf(ofSqlite.storageErrorOf(error, path))).toBe('busy')
    expect(isRecordsFault(error, ofSqlite.faultOf(error))).toBe(false)

    let tries = 0
    const begun = await whileBusy(60_000, () => {
      if (++tries === 3) holder.exec('COMMIT')
      database.exec('BEGIN IMMEDIATE')
      return tries
    })
    expect(begun).toBe(3)
    expect(await thrown(() => whileBusy(20, () => holder.exec('BEGIN IMMEDIATE')))).toMatchObject({ errcode: 5 })
    let others = 0
    const other = await thrown(() =>
      whileBusy(60_000, () => {
        others++
        throw new RangeError('no lock')
      }),
    )
    expect({ other, others }).toEqual({ other: new RangeError('no lock'), others: 1 })
  })

  test('a full disk, a file that is no database, and one that may not be opened', async () => {
    const full = await sql('PRAGMA max_page_count = 2', table, `INSERT INTO t VALUES (1, '${'x'.repeat(50_000)}')`)
    const path = join(temporaryDirectory(), 'diary')
    writeFileSync(path, 'Dear diary, '.repeat(1000))
    const diary = await thrown(() => openConnection(path))
    const nowhere = await thrown(() => openConnection(join(path, 'db.sqlite')))
    expect([full, diary, nowhere].map(ofSqlite.faultOf)).toEqual(['full', 'damaged', 'closed'])
    expect(diary).toMatchObject({ code: 'damaged', message: expect.stringMatching(/left as it is; restore a backup/) })
    expect(nowhere).toMatchObject({ code: 'unavailable', message: expect.stringContaining('diary') })
    const readOnly = join(temporaryDirectory(), 'read-only.sqlite')
    open(readOnly).database.exec(table)
    chmodSync(readOnly, 0o400)
    const write = await thrown(() => new DatabaseSync(readOnly, { readOnly: true }).exec('CREATE TABLE other (id)'))
    expect(ofSqlite.faultOf(write)).toBe('closed')
  })

  test('our errors are no one else’s', async () => {
    const typo = await sql('SELEKT 1')
    expect([typo, new TypeError('x'), 'text', undefined].map(ofSqlite.faultOf)).toEqual(Array(4).fill(undefined))
    expect(ofSqlite.storageErrorOf(typo, 'db')).toBe(typo)
    expect(isRecordsFault(typo, undefined)).toBe(false)
    const { database } = open()
    const unbound = await thrown(() => database.prepare('SELECT ?').get(Symbol('x') as never))
    expect(isRecordsFault(unbound, ofSqlite.faultOf(unbound))).toBe(true)
  })
})

describe('postgres', async () => {
  const server = await testPostgres()

  async function client() {
    const pool = await openPool({ url: server.url, size: 1, connectTimeoutMs: 5_000, statementTimeoutMs: 5_000 })
    onTestFinished(() => pool.end())
    const connected = await pool.connect()
    connected.on('error', () => undefined)
    onTestFinished(() => connected.release(true))
    return connected
  }

  test('keys, values, time-outs, locks, and transactions that failed', async () => {
    const schema = server.newSchema()
    const one = await client()
    const run = (text: string) => send(one, text)
    const failing = (text: string) => thrown(() => run(text))
    await run(`CREATE SCHEMA ${schema}; CREATE TABLE ${schema}.t (id int PRIMARY KEY, name text NOT NULL)`)
    await run(`INSERT INTO ${schema}.t VALUES (1, 'a')`)
    const unique = await failing(`INSERT INTO ${schema}.t VALUES (1, 'b')`)
    const missing = await failing(`INSERT INTO ${schema}.t VALUES (2, NULL)`)
    const range = await failing('SELECT 100000000000::int')
    const outside = await failing('SAVEPOINT nothing')
    await run('BEGIN')
    await failing('SELECT 1 / 0')
    const aborted = await failing('SELECT 1')
    await run('ROLLBACK')
    const timeout = await failing('SET statement_timeout = 20; SELECT pg_sleep(60)')
    await run('SET statement_timeout = 0')
    const two = await client()
    await send(two, `BEGIN; SELECT 1 FROM ${schema}.t FOR UPDATE`)
    const busy = await failing(`SELECT 1 FROM ${schema}.t FOR UPDATE NOWAIT`)
    const faults = [unique, missing, range, outside, aborted, timeout, busy].map(ofPostgres.faultOf)
    expect(faults).toEqual(['unique', 'value', 'value', 'outside', 'aborted', 'timeout', 'busy'])
    expect(ofPostgres.violatedIndex(unique)).toBe('t_pkey')
    for (const error of [unique, missing, range]) expect(isRecordsFault(error, ofPostgres.faultOf(error))).toBe(true)
    for (const error of [aborted, timeout, busy]) expect(isRecordsFault(error, ofPostgres.faultOf(error))).toBe(false)
    expect(ofPostgres.storageErrorOf(timeout)).toMatchObject({ code: 'unavailable' })
    expect(ofPostgres.storageErrorOf(unique)).toBe(unique)
  })

  test('statements that a pooler has sent to another connection are named with the remedy', async () => {
    const one = await client()
    await send(one, 'PREPARE known AS SELECT 1')
    const errors = [await thrown(() => send(one, 'EXECUTE unknown')), await thrown(() => send(one, 'PREPARE known AS SELECT 1'))]
    for (const error of errors)
      expect(ofPostgres.storageErrorOf(error)).toMatchObject({
        code: 'unavailable',
        message: expect.stringContaining('pool_mode = session'),
      })
    const startup = Object.assign(new Error('unsupported startup parameter: statement_timeout'), { code: '08P01' })
    expect(ofPostgres.unreachable(startup)).toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('ignore_startup_parameters'),
    })
  })

  test('a connection that is gone is a lost race before the commit, and an unknown outcome in it', async () => {
    const one = await client()
    const two = await client()
    const { rows } = await send(one, 'SELECT pg_backend_pid()')
    const waiting = thrown(() => send(one, 'SELECT pg_sleep(60)'))
    await send(two, 'SELECT pg_terminate_backend($1)', [rows[0]?.[0]])
    const shutdown = await waiting
    const after = await thrown(() => send(one, 'SELECT 1'))
    for (const error of [shutdown, after]) {
      expect(ofPostgres.faultOf(error)).toBe('lost')
      expect(ofPostgres.storageErrorOf(error)).toMatchObject({ code: 'conflict' })
      expect(ofPostgres.commitError(error)).toMatchObject({ code: 'unknown' })
    }
  })

  test('no one listens, no such database, no such host', async () => {
    const address = new URL(server.url)
    address.pathname = '/nowhere'
    const connecting = (url: string) =>
      thrown(async () => {
        const pool = await openPool({ url, size: 1, connectTimeoutMs: 5_000, statementTimeoutMs: 0 })
        onTestFinished(() => pool.end())
        await pool.connect()
      })
    const database = await connecting(address.href)
    const refused = await connecting('postgres://127.0.0.1:1/db')
    expect([database, refused].map(ofPostgres.faultOf)).toEqual(['closed', 'lost'])
    expect(ofPostgres.unreachable(database)).toMatchObject({ code: 'unavailable', message: expect.stringContaining('nowhere') })
    expect(ofPostgres.unreachable(refused)).toMatchObject({ code: 'unavailable', message: expect.stringContaining('reached') })
  })

  test('unknown codes, and our own errors, are left as they are', () => {
    const made = ['42601', 'XX000', 'ERR_INVALID_ARG_TYPE', 'newer'].map((code) => Object.assign(new Error('x'), { code }))
    expect(made.map(ofPostgres.faultOf)).toEqual(Array(4).fill(undefined))
    expect(made.map(ofPostgres.storageErrorOf)).toEqual(made)
    const classes = ['22P05', '23514', '54000', '08006'].map((code) => Object.assign(new Error('x'), { code }))
    expect(classes.map(ofPostgres.faultOf)).toEqual(['value', 'value', 'value', 'lost'])
  })
})
