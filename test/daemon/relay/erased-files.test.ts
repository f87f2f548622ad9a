/** Of an erased person nothing is left in the files of the storage, the outbox and the relay: their bytes are overwritten, or gone. */
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { openOutbox } from '../../../adapters/outbox/file.ts'
import { lowdbStorage } from '../../../adapters/storage/lowdb.ts'
import { sqliteOutbox, sqliteStorage } from '../../../adapters/storage/sqlite.ts'
import { startRelay } from '../../../daemon/relay/relay.ts'
import { createCommunity } from '../../../lib/index.ts'
import type { Storage } from '../../../lib/storage/contract.ts'
import { temporaryDirectory } from '../../support/directory.ts'
import { receiver, until } from './support.ts'

const hour = 3_600_000
/** Marks of the person. The long one fills pages of its own. */
const marks = { email: 'Zed.Quill@example.org', first_name: 'Zedekiah', last_name: 'Quillfeather', bio: 'paints by the sea' }
/** A letter that only the person has: an index of the parts of texts keeps it in each part around it. */
const letter = '\u{10429}'

/** The files below a directory that hold one of the marks, each with the marks. */
function filesWithMarks(directory: string): readonly string[] {
  return readdirSync(directory, { recursive: true, encoding: 'utf8' }).flatMap((name) => {
    const path = join(directory, name)
    if (!statSync(path).isFile()) return []
    const bytes = readFileSync(path)
    const text = bytes.toString('latin1').toLowerCase()
    const found = Object.entries(marks).flatMap(([what, mark]) => (text.includes(mark.toLowerCase()) ? [what] : []))
    if (bytes.includes(letter)) found.push('letter')
    return found.length === 0 ? [] : [`${name}: ${found.join(', ')}`]
  })
}

interface Opened {
  readonly storage: Storage
  readonly outbox: string
  /** Whether the relay has removed what it has read from the outbox. */
  isCleared(): boolean | Promise<boolean>
  stopLooking(): Promise<void>
}

/** A storage in a directory, and the outbox that the relay reads. */
type Open = (directory: string) => Promise<Opened>

const engines: Readonly<Record<string, Open>> = {
  async sqlite(directory) {
    const path = join(directory, 'api.sqlite')
    const storage = await sqliteStorage({ path })
    const outbox = await sqliteOutbox(path, true)
    const isCleared = async () => (await outbox.backlog({})).count === 0
    return { storage, outbox: `sqlite:${path}`, isCleared, stopLooking: () => outbox.close() }
  },
  async lowdb(directory) {
    const outbox = join(directory, 'outbox')
    const storage = await lowdbStorage({ path: join(directory, 'db.json'), outbox: await openOutbox({ directory: outbox }) })
    return { storage, outbox, isCleared: () => filesWithMarks(outbox).length === 0, stopLooking: async () => {} }
  },
}

test.each(Object.entries(engines))('on %s no file has anything of an erased person', async (_name, open) => {
  const directory = temporaryDirectory()
  const { storage, outbox, isCleared, stopLooking } = await open(directory)
  const community = createCommunity({ storage, allowHttp: true })
  const owner = { email: 'host@example.org', first_name: 'Ada', last_name: 'Ash' }
  await community.networks.create({ id: '1', subdomain: 'demo', title: 'Demo', member_email_visibility: true, owner })
  const hook = await receiver()
  await community.endpoints.upsert({ network: '1', url: hook.url, token: null })
  const settings = { allowHttp: true, allowPrivate: true }
  const relay = await startRelay({ outbox, settings })
  onTestFinished(() => relay.close(0))
  const add = (email: string, first_name: string, last_name: string) =>
    community.call('members.create', { network: '1', body: { email, first_name, last_name } })
  // Others around them, so that pages are shared.
  for (let n = 0; n < 60; n++) await add(`before${n}@example.org`, 'Bela', `Birch ${n}`)
  const zed = await add(marks.email, marks.first_name, `${marks.last_name} ${letter}${letter}`)
  for (let n = 0; n < 60; n++) await add(`after${n}@example.org`, 'Bela', `Birch ${n}`)
  const profile = { bio: `${marks.bio} `.repeat(800), location: 'Delft' }
  await community.notify.memberProfile({ network: '1', member_id: zed.id, ...profile, commercial_email_consent: true })
  for (const first_name of ['Zed', marks.first_name])
    await community.call('members.update', { network: '1', params: { id: zed.id }, body: { first_name } })
  await community.members.erase('1', zed.id)
  const mark = await add('mark@example.org', 'Mark', 'Mark')
  await until(() => hook.received.some(({ body }) => body.includes(mark.id)), 'the mark is delivered')
  await until(async () => (await relay.store.counts()).pending === 0, 'everything is recorded')
  const later = { delivered: 0, dead: 0, now: relay.now() + 2 * hour }
  while ((await relay.store.purge(later)) > 0);
  await relay.store.compact()
  await until(isCleared, 'the outbox is cleared')
  await stopLooking()
  await relay.close(0)
  await community.close()
  expect(filesWithMarks(directory)).toEqual([])
})
