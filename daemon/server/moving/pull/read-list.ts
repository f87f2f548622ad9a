/** One list of the source, from its first page to its last. */
import * as v from 'valibot'
import type { Page } from '../../../../lib/client/index.ts'
import { isClientError } from '../../../../lib/client/index.ts'
import { scoped } from '../../../../lib/storage/scoped.ts'
import type { Id } from '../../../../lib/storage/table.ts'
import { type ApiRecord, isApiRecord } from '../api-record.ts'
import { pageWatch } from '../page-watch.ts'
import { notesAbout, putNote, removeNote } from './notes.ts'
import { type Pulling, write } from './pulling.ts'
import type { Place, Stage } from './stage.ts'
import { sumOf } from './state.ts'
import { type Counts, noCounts, writeRecords } from './write-records.ts'

export interface ReadList {
  readonly place: Place
  /** Records that are not written yet: those of a list of one page. */
  readonly records: readonly ApiRecord[]
  /** The rows of records that were written, page by page. */
  readonly written: readonly Id[]
  readonly counts: Counts
  /** The keys of the notes about its pages. */
  readonly notes: readonly string[]
}

const perPage = '100'

const PageNote = v.object({
  number: v.number(),
  ids: v.array(v.string()),
  next: v.nullable(v.string()),
  counts: v.object({ read: v.number(), added: v.number(), changed: v.number(), removed: v.number(), left: v.number() }),
})
type PageNote = v.InferOutput<typeof PageNote>

async function requestPage(
  pulling: Pulling,
  stage: Stage,
  place: Place,
  from: string | null,
  signal: AbortSignal,
): Promise<Page<unknown>> {
  const { source, ids } = pulling
  const params = Object.fromEntries(Object.entries(place.params).map(([name, id]) => [name, ids.there(id)]))
  const query = from === null ? { ...stage.query, per_page: perPage } : { from }
  const response: unknown = await source.run(async () => {
    signal.throwIfAborted()
    return source.client.call(stage.list, { params, query }, { signal })
  })
  // A list is awaited for its page.
  return response as Page<unknown>
}

export const labelOf = (network_id: Id, { name }: Stage, { params }: Pick<Place, 'params'>): string =>
  [network_id, name, ...Object.values(params)].join(' ')

/** The pages that an earlier run has written, without a gap. */
async function pagesBefore({ storage }: Pulling, label: string): Promise<readonly PageNote[]> {
  const notes = await storage.transaction((tx) => notesAbout(tx, 'seen', label), { readOnly: true })
  const pages = notes.flatMap(({ body }) => {
    const page = v.safeParse(PageNote, JSON.parse(body))
    return page.success ? [page.output] : []
  })
  pages.sort((a, b) => a.number - b.number)
  return pages.filter(({ number }, index) => number === index + 1)
}

/**
 * Reads a list. A list of many pages is written page by page; the records of any other come back.
 * @param isResumed whether an earlier run may have read a part of it
 * @returns `undefined` if the record in whose path it is has gone
 */
export async function readList(
  pulling: Pulling,
  stage: Stage,
  place: Place,
  isResumed: boolean,
  signal: AbortSignal,
): Promise<ReadList | undefined> {
  const label = labelOf(pulling.network_id, stage, place)
  const before = isResumed ? await pagesBefore(pulling, label) : []
  try {
    return await readPages(pulling, stage, place, label, before, noCounts(), signal)
  } catch (error) {
    if (!(error instanceof LinkRefused)) throw error
    const written = await forgetPages(pulling, label)
    pulling.warn(`the server does not know the place in the list of ${stage.name} any more: the list is read from its beginning`)
    return readPages(pulling, stage, place, label, [], written, signal).catch(giveUp)
  }
}

/** The server does not take its own link to a page any more. */
class LinkRefused extends Error {}

/** For the second time: then the server takes no links at all. @throws the error of the client */
function giveUp(error: unknown): never {
  throw error instanceof LinkRefused ? error.cause : error
}

/** Statuses with which servers refuse a place in a list that they have forgotten. */
const forgotten: readonly (number | undefined)[] = [400, 410, 422]

/** Removes the notes of the pages that were written. @returns the counts of their rows, which stay written */
async function forgetPages(pulling: Pulling, label: string): Promise<Counts> {
  const pages = await pagesBefore(pulling, label)
  await write(pulling, async (tx) => {
    for (const { number } of pages) await removeNote(tx, 'seen', `${label} ${number}`)
  })
  const { added, changed, removed } = pages.reduce((sum, page) => sumOf(sum, page.counts), noCounts())
  return { ...noCounts(), added, changed, removed }
}

/**
 * Reads the pages behind those that were written before.
 * @param former counts of rows that were written from pages which are read again
 * @throws LinkRefused
 */
async function readPages(
  pulling: Pulling,
  stage: Stage,
  place: Place,
  label: string,
  before: readonly PageNote[],
  former: Counts,
  signal: AbortSignal,
): Promise<ReadList | undefined> {
  const written = before.flatMap(({ ids }) => ids)
  const notes = before.map(({ number }) => `${label} ${number}`)
  let counts = before.reduce((sum, page) => sumOf(sum, page.counts), former)
  let next: string | null = before.at(-1)?.next ?? null
  if (before.length > 0 && next === null) return { place, records: [], written, counts, notes }
  const isAnother = pageWatch(stage.name)
  for (let number = before.length + 1; ; number++) {
    const from = next
    const page = await requestPage(pulling, stage, place, from, signal).catch((error: unknown) => {
      if (stage.parents.length > 0 && isClientError(error) && error.status === 404) return undefined
      if (from !== null && isClientError(error) && forgotten.includes(error.status)) throw new LinkRefused('', { cause: error })
      throw error
    })
    if (!page) return undefined
    if (!isAnother(page)) return { place, records: [], written, counts, notes }
    next = page.links.next
    const records = page.items.filter(isApiRecord)
    if (number === 1 && next === null) return { place, records, written, counts, notes }
    const done = await writePage(pulling, stage, place, label, number, records, next)
    written.push(...done.ids)
    counts = sumOf(counts, done.counts)
    notes.push(`${label} ${number}`)
    pulling.onProgress(stage.name, counts.read)
    if (next === null) return { place, records: [], written, counts, notes }
  }
}

/** Writes a page and the note about it. */
const writePage = (
  pulling: Pulling,
  stage: Stage,
  place: Place,
  label: string,
  number: number,
  records: readonly ApiRecord[],
  next: string | null,
): Promise<PageNote> =>
  write(pulling, async (tx) => {
    const counts = noCounts()
    const ids = await writeRecords(scoped(tx, pulling.network_id), stage, records, place, counts, pulling.since)
    const seen: PageNote = { number, ids, next, counts }
    await putNote(tx, 'seen', { key: `${label} ${number}`, about: label, body: JSON.stringify(seen) })
    return seen
  })
