/** The file of a backup: a tar file that ends with its manifest, which has the SHA-256 of every part, and with that of the manifest. */
import { createHash } from 'node:crypto'
import { type FileHandle, open, rename, rm } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { fileError } from '../../../adapters/files/errors.ts'
import { syncDirectory, syncWhole } from '../../../adapters/files/sync.ts'
import { StorageError } from '../../../lib/storage/contract.ts'
import { requireNew } from '../commands/to-file.ts'
import { bytesOf, damagedBackup, paddingOf, type TarEntry, tarEnd, tarEntries, tarHeader } from './tar.ts'

export interface Content {
  readonly kind: 'sqlite' | 'lowdb'
  /** Rows of the storage, by table. */
  readonly rows: Readonly<Record<string, number>>
  /** The ids of the encryption keys that its endpoints need. */
  readonly encryption_keys: readonly string[]
}

export interface Manifest extends Content {
  readonly folkmoot_backup: typeof format
  readonly made_at: string
  readonly parts: readonly { readonly name: string; readonly bytes: number; readonly sha256: string }[]
}

export type Add = (name: string, bytes: number, content: AsyncIterable<Uint8Array> | readonly Uint8Array[]) => Promise<void>

const format = 1
const manifestName = 'manifest.json'
const hashName = `${manifestName}.sha256`

/**
 * Writes a backup under another name, reads it again, and gives it its name.
 * @throws StorageError `full`, `unavailable`
 */
export async function writeBackup(to: string, at: number, fill: (add: Add) => Promise<Content>): Promise<Manifest> {
  const unfinished = `${to}.unfinished`
  let file: FileHandle | undefined
  try {
    await rm(unfinished, { force: true })
    const target = await open(unfinished, 'wx+', 0o600)
    file = target
    const write = async (name: string, bytes: number, content: Parameters<Add>[2]): Promise<string> => {
      const hash = createHash('sha256')
      await target.appendFile(tarHeader(name, bytes, at))
      for await (const piece of content) {
        hash.update(piece)
        await target.appendFile(piece)
      }
      await target.appendFile(paddingOf(bytes))
      return hash.digest('hex')
    }
    const parts: Manifest['parts'][number][] = []
    const content = await fill(async (name, bytes, pieces) => {
      parts.push({ name, bytes, sha256: await write(name, bytes, pieces) })
    })
    const manifest = { folkmoot_backup: format, made_at: new Date(at).toISOString(), ...content, parts } as const
    const text = Buffer.from(`${JSON.stringify(manifest, null, 2)}\n`)
    const hash = Buffer.from(await write(manifestName, text.length, [text]))
    await write(hashName, hash.length, [hash])
    await target.appendFile(tarEnd)
    await syncWhole(target)
    await readBackup(target, unfinished)
    requireNew(to)
    await rename(unfinished, to)
    await syncDirectory(dirname(resolve(to)))
    return manifest
  } catch (error) {
    await rm(unfinished, { force: true }).catch(() => undefined)
    throw error instanceof Error && 'syscall' in error ? fileError(`${to} cannot be written`, error) : error
  } finally {
    await file?.close()
  }
}

/** The manifest of a backup and its parts, all of which were read. @throws StorageError `damaged`, `newer` */
export async function readBackup(file: FileHandle, path: string) {
  const entries = new Map<string, TarEntry>()
  const hashes = new Map<string, string>()
  const texts = { [manifestName]: '', [hashName]: '' }
  for await (const entry of tarEntries(file, path)) {
    const hash = createHash('sha256')
    for await (const piece of bytesOf(file, entry.size, entry.start)) {
      hash.update(piece)
      if (entry.name === manifestName || entry.name === hashName) texts[entry.name] += piece.toString('utf8')
    }
    entries.set(entry.name, entry)
    hashes.set(entry.name, hash.digest('hex'))
  }
  if (hashes.get(manifestName) !== texts[hashName]) throw damagedBackup(path, 'its manifest is missing or was changed')
  const manifest = manifestIn(texts[manifestName], path)
  const wrong = manifest.parts.find(({ name, sha256 }) => hashes.get(name) !== sha256)
  if (wrong) throw damagedBackup(path, `${wrong.name} is missing or was changed`)
  return { manifest, parts: manifest.parts.flatMap(({ name }) => entries.get(name) ?? []) }
}

function manifestIn(text: string, path: string): Manifest {
  // Its hash was right.
  const found = JSON.parse(text) as Manifest
  if (found.folkmoot_backup === format) return found
  throw new StorageError('newer', `${path} was written by a later version of folkmoot: restore it with that version`)
}
