import { type FileSystem, nodeFileSystem, type OpenFile } from '../../../adapters/files/file-system.ts'
import type { OutboxRecord } from '../../../lib/outbox/record.ts'

export { event } from './support-events.ts'

import type { Damage, OutboxSource, Positions } from '../../../lib/outbox/source.ts'

/** The ids of the events in some commits. */
export const idsOf = (commits: readonly (readonly OutboxRecord[])[]): string[] =>
  commits
    .flat()
    .map((record) =>
      record.kind === 'event' ? record.event_id : record.kind === 'erasure' ? `erasure ${record.ids}` : `endpoint ${record.id}`,
    )

/** Reads until there is nothing more at once. */
export async function readAll(source: OutboxSource, from: Positions = {}, limit = 1 << 20) {
  let positions: Record<string, number> = { ...from }
  const commits: (readonly OutboxRecord[])[] = []
  const damage: Damage[] = []
  for (;;) {
    const reading = await source.read(positions, limit)
    commits.push(...reading.commits)
    damage.push(...reading.damage)
    positions = { ...positions, ...reading.positions }
    if (!reading.more) return { commits, damage, positions, ids: idsOf(commits) }
  }
}

export const failure = (code: string): Error => Object.assign(new Error(`${code}: injected`), { code })

/** A file system over the real one, whose files behave as `change` decides. */
export function faulty(change: (file: OpenFile, path: string) => Partial<OpenFile>, base: Partial<FileSystem> = {}): FileSystem {
  return {
    ...nodeFileSystem,
    async create(path, options) {
      const file = await nodeFileSystem.create(path, options)
      return { ...file, ...change(file, path) }
    },
    ...base,
  }
}
