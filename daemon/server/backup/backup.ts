/** `folkmoot backup`: everything of a storage and its relay in one file, while both run. */

import { existsSync } from 'node:fs'
import { type FileHandle, open, readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { fileError } from '../../../adapters/files/errors.ts'
import { parseSegmentName } from '../../../adapters/outbox/segment-name.ts'
import { sqliteDialect } from '../../../adapters/sql/sqlite/dialect.ts'
import { storageErrorOf } from '../../../adapters/sql/sqlite/errors.ts'
import { makeFile } from '../../../adapters/sql/sqlite/file.ts'
import { DatabaseSync, backup as pagesTo } from '../../../adapters/sql/sqlite/module.ts'
import { parseDocument } from '../../../adapters/storage/lowdb/document.ts'
import { counted } from '../../../lib/base/counted.ts'
import { StorageError } from '../../../lib/storage/contract.ts'
import { UsageError } from '../../usage.ts'
import { bar, type ProgressHost, type ProgressLine, progressLine } from '../commands/progress-line.ts'
import { requireNew } from '../commands/to-file.ts'
import { mustExist } from '../storage/open.ts'
import { type Add, type Content, writeBackup } from './backup-file.ts'
import { type PlaceFlags, type Places, placesOf } from './places.ts'
import { bytesOf } from './tar.ts'

export interface BackupFlags extends PlaceFlags {
  readonly json?: boolean
}

/** Pages of a database that are copied between two looks of the progress. */
const pagesAtOnce = 4096

/** @throws UsageError, StorageError */
export async function backup(to: string, flags: BackupFlags, host: ProgressHost): Promise<void> {
  const places = placesOf(flags, to, 'backup')
  if (to === '-') throw new UsageError('a backup is read again after it is written: give the name of a file')
  requireNew(to)
  await mustExist(places.file)
  const line = progressLine(host)
  const { rows, encryption_keys, made_at, parts } = await writeBackup(to, Date.now(), (add) =>
    places.kind === 'sqlite' ? ofSqlite(places, to, add, line) : ofLowdb(places, to, add, line),
  ).finally(() => line.clear())
  const bytes = parts.reduce((sum, part) => sum + part.bytes, 0)
  const uploads = parts.filter(({ name }) => name.startsWith('uploads/')).length
  const relay = parts.some(({ name }) => name === 'relay.sqlite')
  const summary = { file: to, made_at, bytes, rows, uploads, relay, encryption_keys }
  const content = `${counted(rows['networks'] ?? 0, 'network')}, ${counted(rows['members'] ?? 0, 'member')}, ${counted(uploads, 'upload')}, ${relay ? 'and' : 'without'} the state of a relay`
  host.out.line(flags.json ? JSON.stringify(summary) : `${to} has ${content}; it was read again, and is whole.`)
}

/** The storage first: an event that has left its outbox by then is in the relay's store, which knows it if it is in both. */
async function ofSqlite(places: Places, to: string, add: Add, line: ProgressLine): Promise<Content> {
  const storage = snapshotOf(places.file)
  const relay = snapshotOf(places.relay)
  try {
    const content = await addDatabase(add, 'storage.sqlite', storage, to, line)
    await addDatabase(add, 'relay.sqlite', relay, to, line)
    await addUploads(add, places.assets, line)
    return { kind: 'sqlite', ...content }
  } finally {
    for (const each of [storage, relay]) each?.close()
  }
}

/**
 * The same order: the storage has what is not in the outbox yet, and the relay what has left it. Segments are read after the relay's
 * snapshot, so that none is shorter than the relay has read it.
 */
async function ofLowdb(places: Places, to: string, add: Add, line: ProgressLine): Promise<Content> {
  const bytes = await readFile(places.file)
  const { tables } = parseDocument(bytes, places.file)
  const segments: (readonly [string, FileHandle])[] = []
  for await (const each of filesIn(places.directory, (name) => parseSegmentName(name) !== undefined)) segments.push(each)
  const relay = snapshotOf(places.relay)
  try {
    await add('storage.json', bytes.length, [bytes])
    for (const [name, file] of segments) {
      const whole = await file.readFile()
      // Its writer may be in the middle of a line.
      const lines = whole.subarray(0, whole.lastIndexOf('\n') + 1)
      await add(`outbox/${name}`, lines.length, [lines])
    }
    await addAll(add, 'outbox/audit', join(places.directory, 'audit'), (name) => name.endsWith('.json'))
    await addDatabase(add, 'relay.sqlite', relay, to, line)
    await addUploads(add, places.assets, line)
    const rows = Object.fromEntries(Object.entries(tables).map(([name, { length }]) => [name, length]))
    return { kind: 'lowdb', rows, encryption_keys: keysIn(bytes.toString('utf8')) }
  } finally {
    relay?.close()
    for (const [, file] of segments) await file.close()
  }
}

/** A database as it is now, for as long as it is open; `undefined` if it is missing. */
function snapshotOf(path: string): DatabaseSync | undefined {
  if (!existsSync(path)) return undefined
  try {
    const database = new DatabaseSync(path, { timeout: 5_000 })
    database.exec('BEGIN; SELECT 1 FROM sqlite_schema')
    return database
  } catch (error) {
    throw storageErrorOf(error, path)
  }
}

async function addDatabase(add: Add, name: string, snapshot: DatabaseSync | undefined, to: string, line: ProgressLine) {
  const copy = `${to}.unfinished.sqlite`
  const remove = () => Promise.all(['', '-journal', '-wal', '-shm'].map((end) => rm(copy + end, { force: true })))
  if (!snapshot) return { rows: {}, encryption_keys: [] }
  await remove()
  try {
    makeFile(copy)
    const progress = ({ totalPages, remainingPages }: { readonly totalPages: number; readonly remainingPages: number }) =>
      line.show(name, `${name} ${bar(1 - remainingPages / totalPages)}`)
    await pagesTo(snapshot, copy, { rate: pagesAtOnce, progress })
    const content = contentOf(copy)
    await addFile(add, name, await open(copy))
    return content
  } catch (error) {
    throw storageErrorOf(error, to)
  } finally {
    await remove()
  }
}

/** Rows and encryption keys of a copied storage. @throws StorageError `damaged` */
function contentOf(path: string): Omit<Content, 'kind'> {
  const copy = new DatabaseSync(path)
  try {
    const [problem] = copy.prepare('PRAGMA integrity_check(1)').all()
    if (problem?.['integrity_check'] !== 'ok') throw new StorageError('damaged', `SQLite finds: ${problem?.['integrity_check']}`)
    const { prefix } = sqliteDialect
    const names = copy.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all()
    const tables = names.map(({ name }) => String(name)).filter((name) => name.startsWith(prefix))
    const count = (table: string) => Number(copy.prepare(`SELECT count(*) AS rows FROM "${table}"`).get()?.['rows'])
    const rows = Object.fromEntries(tables.map((table) => [table.slice(prefix.length), count(table)]))
    const endpoints = `${prefix}webhook_endpoints`
    const text = tables.includes(endpoints) ? JSON.stringify(copy.prepare(`SELECT * FROM "${endpoints}"`).all()) : ''
    return { rows, encryption_keys: keysIn(text) }
  } finally {
    copy.close()
  }
}

const keysIn = (text: string): readonly string[] => [
  ...new Set([...text.matchAll(/"encrypted:1:([0-9a-f]{16}):|\\"encrypted:1:([0-9a-f]{16}):/g)].map(([, a, b]) => a ?? b ?? '')),
]

const addUploads = (add: Add, directory: string, line: ProgressLine): Promise<void> => {
  line.show('uploads', 'uploads')
  return addAll(add, 'uploads', directory, (name) => /^[\w-]+(?:\.[\w-]+)+$/.test(name) && !name.endsWith('.part'))
}

async function addAll(add: Add, under: string, ...which: Parameters<typeof filesIn>): Promise<void> {
  for await (const [name, file] of filesIn(...which)) await addFile(add, `${under}/${name}`, file)
}

async function addFile(add: Add, name: string, file: FileHandle): Promise<void> {
  try {
    const { size } = await file.stat()
    await add(name, size, bytesOf(file, size))
  } finally {
    await file.close()
  }
}

/** Opens the files of a directory. One that is removed meanwhile is no part of it. */
async function* filesIn(directory: string, isWanted: (name: string) => boolean): AsyncGenerator<readonly [string, FileHandle]> {
  for (const name of (await ifThere<readonly string[]>(readdir(directory), [], directory)).toSorted().filter(isWanted)) {
    const path = join(directory, name)
    const file = await ifThere<FileHandle | undefined>(open(path), undefined, path)
    if (file) yield [name, file]
  }
}

const ifThere = <T>(work: Promise<T>, otherwise: T, path: string): Promise<T> =>
  work.catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return otherwise
    throw fileError(`${path} cannot be read`, error)
  })
