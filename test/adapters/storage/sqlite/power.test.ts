/** A SQLite file after a power failure: it keeps everything that was synced, and of later writes some blocks. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, onTestFinished, test } from 'vitest'
import { openLogFile } from '../../../../adapters/storage/sqlite/log.ts'
import { sqliteStorage } from '../../../../adapters/storage/sqlite.ts'
import { temporaryDirectory } from '../../../support/directory.ts'
import { thing, things, wordOf } from '../things.ts'

interface Disk {
  readonly file: Buffer
  readonly log: Buffer
}

/** Bytes that a disk writes as a whole. */
const block = 512
/** Bytes of the head of a log. SQLite itself syncs it when a log begins anew. */
const head = 32

/** Coins of a fixed row, so that a failure comes again. */
function coins(): () => boolean {
  let state = 20_261_122
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state > 0x7f_ff_ff_ff
  }
}

/** A log of which some blocks are as they were synced, and some as they were written later. */
function torn(synced: Buffer, written: Buffer, isWritten: () => boolean): Buffer {
  const mixed = Buffer.from(written)
  for (let at = 0; at < mixed.length; at += block) {
    if (isWritten()) continue
    const [from, end] = [at === 0 ? head : at, Math.min(at + block, mixed.length)]
    mixed.fill(0, from, end)
    mixed.set(synced.subarray(from, end), from)
  }
  return mixed
}

/** The ids of things and of their events, in a file with this content. */
function contentOf({ file, log }: Disk): { readonly things: readonly string[]; readonly events: readonly string[] } {
  const path = join(temporaryDirectory(), 'db.sqlite')
  writeFileSync(path, file)
  writeFileSync(`${path}-wal`, log)
  const database = new DatabaseSync(path, { timeout: 60_000 })
  try {
    expect(database.prepare('PRAGMA integrity_check').all()).toMatchObject([{ integrity_check: 'ok' }])
    const ids = (sql: string) =>
      database
        .prepare(sql)
        .all()
        .map(({ id }) => String(id))
    return {
      things: ids('SELECT id FROM folkmoot_things ORDER BY id'),
      events: ids(
        "SELECT value ->> 'event_id' AS id FROM folkmoot_outbox, json_each(records) ORDER BY CAST(value ->> 'event_id' AS INTEGER)",
      ),
    }
  } finally {
    database.close()
  }
}

test('a power failure leaves everything that was confirmed, and each other transaction as a whole or not at all', async () => {
  const path = join(temporaryDirectory(), 'db.sqlite')
  const coin = coins()
  const disk = (): Disk => ({ file: readFileSync(path), log: readFileSync(`${path}-wal`) })
  const told = new Set<string>()
  let synced: Disk | undefined
  const logs = new Set<string>()
  const kept = new Set<boolean>()
  let syncs = 0

  /** Right before a sync ends well, the power fails. */
  function fail(written: Disk): void {
    logs.add(written.log.toString('hex', 16, 24))
    if (!synced || syncs++ % 4 > 0) return
    // Every other time all later writes have reached the disk.
    const isWritten = syncs % 8 === 1 ? coin : () => true
    // Before SQLite writes into the file it syncs the log.
    const isMoved = !written.file.equals(synced.file)
    const content = contentOf({ file: written.file, log: isMoved ? written.log : torn(synced.log, written.log, isWritten) })
    expect(content.events).toEqual(content.things)
    expect([...told].filter((id) => !content.things.includes(id))).toEqual([])
    kept.add(content.things.length > told.size)
  }

  const openLog: typeof openLogFile = async (of) => {
    const file = await openLogFile(of)
    if (!file) throw new Error('there is no log')
    return {
      async datasync() {
        const written = disk()
        await file.datasync()
        fail(disk())
        synced = written
      },
      close: () => file.close(),
    }
  }
  const storage = await sqliteStorage({ path, tables: [things], openLog })
  onTestFinished(() => storage.close())
  const label = 'x'.repeat(6_000)
  const write = async (id: number) => {
    await storage.transaction(async (tx) => {
      await tx.insert(things, thing(id, { label }))
      await tx.append([wordOf(id)])
    })
    told.add(String(id))
  }
  // Another process moves the log into the file now and then.
  const other = new DatabaseSync(path, { timeout: 5_000 })
  onTestFinished(() => other.close())
  for (let id = 1; id <= 260; id += 4) {
    await Promise.all([0, 1, 2, 3].map((more) => write(id + more)))
    if (id % 28 === 1) other.exec('PRAGMA wal_checkpoint(PASSIVE)')
  }
  expect(told.size).toBe(260)
  // The log has begun anew in between. Some failures have kept what was not told yet, and some have not.
  expect(logs.size).toBeGreaterThan(1)
  expect(kept).toEqual(new Set([false, true]))
})
