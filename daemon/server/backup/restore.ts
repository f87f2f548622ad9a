/** `folkmoot restore`: a backup into a new storage, which sends nothing before somebody says so. */

import { existsSync, readdirSync, statSync } from 'node:fs'
import { type FileHandle, open, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { makeDirectory } from '../../../adapters/files/directory.ts'
import { fileError } from '../../../adapters/files/errors.ts'
import { syncDirectory, syncWhole } from '../../../adapters/files/sync.ts'
import { DatabaseSync } from '../../../adapters/sql/sqlite/module.ts'
import { counted } from '../../../lib/base/counted.ts'
import { createCommunity } from '../../../lib/index.ts'
import { systemClock } from '../../relay/clock.ts'
import { openStore } from '../../relay/open-store.ts'
import { defaultSettings } from '../../relay/settings.ts'
import { about, UsageError } from '../../usage.ts'
import { commandActor } from '../../user.ts'
import { bar, type ProgressHost, progressLine } from '../commands/progress-line.ts'
import { openStorage } from '../storage/open.ts'
import type { BackupFlags } from './backup.ts'
import { type Manifest, readBackup } from './backup-file.ts'
import { type Places, placesOf, unfinishedOf } from './places.ts'
import { bytesOf, type TarEntry } from './tar.ts'

export interface RestoreFlags extends BackupFlags {
  readonly send?: boolean
}

/** @throws UsageError, StorageError */
export async function restore(from: string, flags: RestoreFlags, host: ProgressHost): Promise<void> {
  const { out } = host
  const { send = false } = flags
  const places = placesOf(flags, from, 'restore')
  const file = await open(from).catch((error: unknown) => {
    throw fileError(`${from} cannot be read`, error)
  })
  const line = progressLine(host)
  try {
    line.show('reading', `reading ${from}`)
    const { manifest, parts } = await readBackup(file, from)
    requireEmpty(places, manifest, parts, from)
    const unfinished = unfinishedOf(places)
    const moved = [
      [unfinished.assets, places.assets],
      [unfinished.directory, places.directory],
      // Last: without it nothing was restored.
      [unfinished.file, places.file],
    ] as const
    const leftovers = [...moved.map(([path]) => path), ...['-wal', '-shm', '.lock'].map((end) => unfinished.file + end)]
    const remove = () => Promise.all(leftovers.map((path) => rm(path, { recursive: true, force: true })))
    try {
      await remove()
      for (const [place, part] of parts.entries()) {
        line.show('writing', `${bar(place / parts.length)} ${part.name}`)
        await writePart(file, part, pathIn(unfinished, part.name))
      }
      const disabled = await settle(unfinished, manifest, send, out.warn)
      for (const [path, final] of moved) {
        if (!existsSync(path)) continue
        await rename(path, final)
        await syncDirectory(dirname(final))
      }
      line.clear()
      const { made_at, rows, encryption_keys } = manifest
      const summary = { storage: places.storage, made_at, rows, encryption_keys, sends: send, disabled }
      out.line(flags.json ? JSON.stringify(summary) : sentences(places, manifest, send, disabled).join('\n'))
    } finally {
      await remove()
    }
  } catch (error) {
    throw error instanceof Error && 'syscall' in error ? fileError(`${places.file} cannot be restored`, error) : error
  } finally {
    line.clear()
    await file.close()
  }
}

function sentences({ storage }: Places, manifest: Manifest, send: boolean, disabled: readonly string[]): readonly string[] {
  const { made_at, rows, encryption_keys } = manifest
  const count = `${counted(rows['networks'] ?? 0, 'network')}, ${counted(rows['members'] ?? 0, 'member')}`
  const enable = `\`folkmoot endpoints enable --all --storage ${storage}\``
  return [
    `${storage} is as it was at ${made_at}: ${count}.`,
    ...(encryption_keys.length > 0 ? [`Its endpoints need the encryption keys ${encryption_keys.join(', ')}.`] : []),
    send
      ? 'A relay that is started on it sends what waits.'
      : `Nothing is sent: ${counted(disabled.length, 'endpoint was', 'endpoints were')} disabled (${disabled.join(', ') || 'none'}). ${enable} lets it send.`,
  ]
}

/** @throws UsageError */
function requireEmpty(places: Places, { kind }: Manifest, parts: readonly TarEntry[], from: string): void {
  if (kind !== places.kind)
    throw about(
      new UsageError(
        `${from} is of a storage ${kind}:PATH: restore it into one, and \`folkmoot copy\` that into ${places.storage}`,
      ),
      'storage',
    )
  const hasUploads = parts.some(({ name }) => name.startsWith('uploads/'))
  const used = [places.file, `${places.file}-wal`, places.directory, ...(hasUploads ? [places.assets] : [])].find(isUsed)
  if (used !== undefined)
    throw about(new UsageError(`${used} is there already: restore into a new storage, and move that to its place`), 'storage')
}

const isUsed = (path: string): boolean => {
  const found = statSync(path, { throwIfNoEntry: false })
  return found !== undefined && (!found.isDirectory() || readdirSync(path).length > 0)
}

/** Where a part goes. @throws UsageError for a name that no backup has */
function pathIn({ file, relay, directory, assets }: Places, name: string): string {
  if (/^storage\.(?:sqlite|json)$/.test(name)) return file
  if (name === 'relay.sqlite') return relay
  const [, under, own = ''] = /^(outbox|outbox\/audit|uploads)\/([\w-][\w.-]*)$/.exec(name) ?? []
  if (under === undefined) throw new UsageError(`the backup has a part ${JSON.stringify(name)}, which is of no storage`)
  return under === 'uploads' ? join(assets, own) : join(directory, under.slice('outbox'.length), own)
}

async function writePart(from: FileHandle, { size, start }: TarEntry, path: string): Promise<void> {
  makeDirectory(dirname(path))
  const file = await open(path, 'wx', 0o600)
  try {
    for await (const piece of bytesOf(from, size, start)) await file.appendFile(piece)
    await syncWhole(file)
  } finally {
    await file.close()
  }
}

/** Writes the audit and, unless it may send, disables every endpoint, in the storage and in the relay's store. */
async function settle(places: Places, { made_at }: Manifest, send: boolean, warn: (sentence: string) => void) {
  const { storage: address, outbox, directory, kind } = places
  const { storage } = await openStorage(address, kind === 'lowdb' ? directory : undefined, warn)
  const disabled: { readonly network: string; readonly id: string }[] = []
  const community = createCommunity({ storage })
  try {
    const { networks, endpoints, audit } = community.by({ actor: commandActor() })
    for (const { id: network } of await networks.list()) {
      const enabled = send ? [] : (await endpoints.list(network)).filter((endpoint) => endpoint.enabled)
      const details = { made_at, sends: send, disabled: enabled.map(({ id }) => id) }
      await audit.record({ network, action: 'network.restored', subject: { type: 'network', id: network }, details })
      for (const { id } of enabled) {
        await endpoints.disable(network, id)
        disabled.push({ network, id })
      }
    }
  } finally {
    await community.close()
    await storage.close()
  }
  if (!send) await disableInRelay(places.relay, outbox, disabled, `restored from a backup of ${made_at}`)
  return disabled.map(({ id }) => id)
}

/** Takes the outbox over without sending, so that no event overtakes the change, and gives the reason. */
async function disableInRelay(
  path: string,
  outbox: string,
  disabled: readonly { readonly network: string; readonly id: string }[],
  reason: string,
): Promise<void> {
  const { intake, close } = await openStore({ outbox, clock: systemClock, settings: () => defaultSettings })
  try {
    for (let more = true; more; ) ({ more } = await intake.next(systemClock.now, 0))
    await intake.tidy()
    await intake.close()
  } finally {
    await close()
  }
  const store = new DatabaseSync(path)
  try {
    const disable = store.prepare('UPDATE endpoints SET disabled = ? WHERE network_id = ? AND id = ? AND removed_at IS NULL')
    for (const { network, id } of disabled) disable.run(reason, network, id)
  } finally {
    store.close()
  }
}
