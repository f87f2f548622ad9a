/**
 * The state file of a push: which record of the storage became which record of the server. Each record is noted as soon as the
 * server has answered, so a push that was killed continues behind it.
 */
import { randomUUID } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { type FileHandle, open, readFile, writeFile } from 'node:fs/promises'
import * as v from 'valibot'
import { errorCode, fileError } from '../../../../adapters/files/errors.ts'
import { acquireLock } from '../../../../adapters/files/process-lock.ts'
import { syncContent } from '../../../../adapters/files/sync.ts'
import { UsageError } from '../../../usage.ts'

/** A record that is on the server. */
export interface Entry {
  /** Its id there; empty if it has none. */
  readonly to: string
  /** The fields that were sent, each with a hash of its value: only a field with another one is sent again. */
  readonly sent: Readonly<Record<string, string>>
}

/** A request that makes a record. */
export interface Asked {
  readonly label: string
  readonly operation: string
  readonly params: Readonly<Record<string, string>>
  readonly query: Readonly<Record<string, string>>
  readonly body: unknown
}

export interface Journal {
  /** Drawn when the file was made: the idempotency keys of a push begin with it. */
  readonly id: string
  /** Whether an earlier run has noted something. */
  readonly resumed: boolean
  get(label: string): Entry | undefined
  entries(): Iterable<readonly [label: string, entry: Entry]>
  /** The request that an earlier run has begun, and not ended: the server may have done it. */
  begun(label: string): Asked | undefined
  begin(asked: Asked): Promise<void>
  /** The request was refused, so it has made nothing. */
  refused(): Promise<void>
  add(entries: readonly (readonly [label: string, entry: Entry])[]): Promise<void>
  close(): Promise<void>
}

const Head = v.object({ folkmoot_push: v.literal(1), id: v.string(), from: v.string(), to: v.string() })
const Line = v.object({ label: v.string(), to: v.string(), sent: v.optional(v.record(v.string(), v.string()), {}) })
const Begun = v.object({
  label: v.string(),
  operation: v.string(),
  params: v.record(v.string(), v.string()),
  query: v.record(v.string(), v.string()),
  body: v.unknown(),
})

/** A journal that ends with the process, for a run that sends nothing. */
export function memoryJournal(before?: Journal): Journal {
  const entries = new Map(before?.entries() ?? [])
  return {
    id: before?.id ?? '',
    get resumed() {
      return entries.size > 0
    },
    get: (label) => entries.get(label),
    entries: () => entries,
    begun: () => undefined,
    begin: async () => {},
    refused: async () => {},
    async add(added) {
      for (const [label, entry] of added) entries.set(label, entry)
    },
    close: async () => {},
  }
}

/**
 * Opens the state file, or makes it.
 * @param from names the network in the storage, `to` that of the server
 * @throws UsageError if the file belongs to another push, or is damaged
 * @throws StorageError `locked` if another process uses it, `full`, `unavailable`
 */
export async function openJournal(path: string, from: string, to: string): Promise<Journal> {
  const lock = await acquireLock(path, 'folkmoot push').catch((error: unknown) => {
    throw fileError(path, error)
  })
  let file: FileHandle | undefined
  try {
    file = await open(path, 'a', 0o600)
    const { lines, length } = await linesOf(path)
    // A line that a crash has cut short was not finished: its record is asked for again.
    await file.truncate(length)
    return await journalOf(path, file, lines, { from, to }, () => lock.release())
  } catch (error) {
    await file?.close()
    await lock.release()
    throw error instanceof UsageError ? error : fileError(path, error)
  }
}

/** The whole lines of a file, and how many bytes they have. */
async function linesOf(path: string): Promise<{ lines: string[]; length: number }> {
  const lines: string[] = []
  let [rest, length]: [Buffer, number] = [Buffer.alloc(0), 0]
  for await (const chunk of createReadStream(path)) {
    const bytes = Buffer.concat([rest, chunk])
    const end = bytes.lastIndexOf(10) + 1
    if (end > 0) lines.push(...bytes.toString('utf8', 0, end - 1).split('\n'))
    length += end
    rest = bytes.subarray(end)
  }
  return { lines, length }
}

async function journalOf(
  path: string,
  file: FileHandle,
  [first, ...lines]: readonly string[],
  { from, to }: { readonly from: string; readonly to: string },
  release: () => Promise<void>,
): Promise<Journal> {
  const head = first === undefined ? undefined : parsed(path, 1, Head, first)
  if (head && (head.from !== from || head.to !== to))
    throw new UsageError(
      `${path} is the state of a push of ${head.from} to ${head.to}, not of ${from} to ${to}: name another file with --state`,
    )
  const id = head?.id ?? randomUUID()
  const entries = new Map<string, Entry>()
  for (const [index, line] of lines.entries()) {
    const { label, ...entry } = parsed(path, index + 2, Line, line)
    entries.set(label, entry)
  }
  const next = `${path}.next`
  const last = await readBegun(next)
  const write = async (text: string): Promise<void> => {
    try {
      await file.appendFile(text)
      await syncContent(file)
    } catch (error) {
      throw fileError(path, error)
    }
  }
  if (!head) await write(`${JSON.stringify({ folkmoot_push: 1, id, from, to } satisfies v.InferOutput<typeof Head>)}\n`)
  return {
    id,
    resumed: entries.size > 0,
    get: (label) => entries.get(label),
    entries: () => entries,
    begun: (label) => (last?.label === label && !entries.has(label) ? last : undefined),
    begin: (asked) => writeFile(next, JSON.stringify(asked), { mode: 0o600 }),
    refused: () => writeFile(next, ''),
    async add(added) {
      await write(added.map(([label, entry]) => `${JSON.stringify({ label, ...entry })}\n`).join(''))
      for (const [label, entry] of added) entries.set(label, entry)
    },
    async close() {
      await file.close()
      await release()
    },
  }
}

function parsed<S extends v.GenericSchema>(path: string, number: number, schema: S, line: string): v.InferOutput<S> {
  try {
    return v.parse(schema, JSON.parse(line))
  } catch {
    throw new UsageError(`${path}, line ${number}, is not of a push: restore the file, or name another one with --state`)
  }
}

async function readBegun(path: string): Promise<Asked | undefined> {
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    if (errorCode(error) === 'ENOENT') return ''
    throw error
  })
  try {
    return v.parse(Begun, JSON.parse(text))
  } catch {
    // Cut short before its request was sent.
    return undefined
  }
}
