/** The audit for the operators of a relay: in the storage where it is the outbox, else by the inbox next to the outbox. */
import { resolve } from 'node:path'
import { leaveLine } from '../../../adapters/outbox/audit-inbox.ts'
import { hasTable } from '../../../adapters/sql/postgres/has-table.ts'
import { sqliteDialect } from '../../../adapters/sql/sqlite/dialect.ts'
import { hasTable as fileHasTable } from '../../../adapters/sql/sqlite/read-only.ts'
import { systemChance } from '../../../lib/base/chance.ts'
import { isApiError } from '../../../lib/errors.ts'
import { type Work, withLines } from '../../../lib/host/audit/audited-work.ts'
import type { Details } from '../../../lib/host/audit/details.ts'
import type { RelayRecord } from '../../../lib/index.ts'
import { auditedAdmin, resendDetails } from '../../../lib/relay/audited-admin.ts'
import type { RelayAdmin, ResendProgress, ResendRequest } from '../../../lib/relay/relay-admin.ts'
import type { Storage } from '../../../lib/storage/contract.ts'
import { fault } from '../../output.ts'
import { UsageError } from '../../usage.ts'
import { systemClock } from '../clock.ts'
import { type Place, placeOf } from '../ingest/outbox-address.ts'
import type { Endpoint } from '../store/endpoint/relay-endpoint.ts'
import { completed, filterOf, type OpenRelayAdmin } from './admin.ts'

/** The person who requests work, and the relay. */
interface Asker {
  readonly outbox: string
  /** The person for the audit; null if the caller leaves the lines. */
  readonly actor: string | null
}

/** The audit cannot be written. Without the line before it, work is not done. */
export class AuditUnwritten extends UsageError {}

type Recorder = (entry: RelayRecord) => Promise<void>

export interface WorkParts<T> {
  readonly run: () => Promise<T>
  /** The result on one network; `undefined` if nothing was done there. */
  readonly done: (result: T, work: Work) => Details | undefined
  /** The part that was done before a failure. */
  readonly before?: (work: Work) => Details
}

/** The endpoint of some work, without its address, which may be a secret. */
export const subjectOf = ({ id, name, url }: Pick<Endpoint, 'id' | 'name' | 'url'>): Work['subject'] => ({
  type: 'endpoint',
  id,
  name: name ?? new URL(url).host,
})

/**
 * Runs work of an operator with its lines of the audit: one before it, without which nothing is done, and one after it.
 * @param works the same work on each of the networks that it concerns
 * @throws AuditUnwritten; what the work throws
 */
export async function audited<T>({ outbox, actor }: Asker, works: readonly Work[], parts: WorkParts<T>): Promise<T> {
  if (works.length === 0 || actor === null) return parts.run()
  const trail = await openTrail(placeOf(outbox), actor).catch(refusing('work.requested'))
  try {
    const record: Recorder = (entry) => trail.record(entry).catch(refusing(entry.action))
    return await withLines(works, { ...parts, record, chance: systemChance })
  } finally {
    await trail.close()
  }
}

/**
 * The administration on behalf of a person, whom the audit names for each change.
 * @param actor null if the caller leaves the lines
 */
export const actingAs = (admin: OpenRelayAdmin, actor: string | null): RelayAdmin => ({
  ...auditedAdmin(admin, {
    lined: (work, run, done) => audited({ outbox: admin.outbox, actor }, [work], { run, done }),
    async subjectOf(ref) {
      const endpoint = await admin.endpoint(ref)
      return endpoint && subjectOf(endpoint)
    },
  }),
  stop(resend) {
    const works = admin.networksOf(resend).map((network): Work => {
      const subject = { type: 'network', id: network } as const
      return { network, action: 'deliveries.resend_stopped', subject, details: { resend: resend.id } }
    })
    const done = (stopped: ResendProgress | undefined) => stopped && { resent: stopped.done }
    return audited({ outbox: admin.outbox, actor }, works, { run: () => admin.stop(resend), done })
  },
  resend: async (request) =>
    audited({ outbox: admin.outbox, actor }, actor === null ? [] : await resendWorks(admin, request), {
      run: () => admin.resend(request),
      done: ({ id }) => ({ resend: id }),
    }),
})

/** A resend that records all its times at once. */
export async function resendNow(
  admin: OpenRelayAdmin,
  actor: string,
  request: ResendRequest,
  progress: (done: number, of: number) => void,
): Promise<ResendProgress> {
  const resent = new Map<string, number>()
  const resultOn = ({ network }: Work) => ({ resent: resent.get(network) ?? 0 })
  const run = () =>
    admin.resendNow(request, (again, { done, of }) => {
      for (const { network_id } of again) resent.set(network_id, (resent.get(network_id) ?? 0) + 1)
      progress(done, of.count)
    })
  const works = await resendWorks(admin, request)
  return audited({ outbox: admin.outbox, actor }, works, { run, done: (_, work) => resultOn(work), before: resultOn })
}

/** The work of a resend on each network that has such deliveries. */
async function resendWorks(admin: OpenRelayAdmin, request: ResendRequest): Promise<readonly Work[]> {
  const { ids, endpoint_id, network_id } = request
  const endpoints = (await (await admin.store()).knownEndpoints()).filter(
    (each) => [undefined, each.id].includes(endpoint_id) && [undefined, each.network_id].includes(network_id),
  )
  const filter = filterOf(completed(request))
  const details = resendDetails(completed(request))
  const works: Work[] = []
  for (const network of new Set(endpoints.map((each) => each.network_id))) {
    const matched = ids ? ids.length : (await admin.count({ ...filter, network_id: network })).count
    if (matched === 0 && network_id === undefined) continue
    const [only] = endpoints.filter((each) => each.network_id === network)
    const subject = endpoint_id !== undefined && only ? subjectOf(only) : ({ type: 'network', id: network } as const)
    works.push({ network, action: 'deliveries.resent', subject, details: { ...details, matched } })
  }
  return works
}

const refusing = (action: RelayRecord['action']) => (error: unknown) => {
  throw new AuditUnwritten(
    action === 'work.requested'
      ? `nothing was done, because the audit cannot be written: ${fault(error)}`
      : `this is done, but the audit has no line of its result: ${fault(error)}`,
  )
}

async function openTrail(place: Place, actor: string): Promise<{ readonly record: Recorder; close(): Promise<void> }> {
  const by = { actor }
  if (place.kind === 'directory') {
    let last = 0
    const record: Recorder = (entry) => {
      // Two lines of one work keep their order.
      last = Math.max(last + 1, systemClock.now())
      const { work_id = systemChance.uuid(), ...rest } = entry
      return leaveLine(place.path, { ...rest, work_id, by, at: new Date(last).toISOString() })
    }
    return { record, close: async () => undefined }
  }
  // An outbox alone, without the storage of a community, has no audit.
  if (!(await hasAudit(place))) return { record: async () => undefined, close: async () => undefined }
  const storage = await openStorage(place)
  const { createCommunity } = await import('../../../lib/index.ts')
  const community = createCommunity({ storage })
  const { audit } = community.by(by)
  const record: Recorder = (entry) =>
    audit.record(entry).catch((error: unknown) => {
      // No one reads the audit of a network that is gone.
      if (!isApiError(error) || error.status !== 404) throw error
    })
  return { record, close: () => community.close() }
}

const hasAudit = async (place: Exclude<Place, { readonly kind: 'directory' }>): Promise<boolean> =>
  place.kind === 'sqlite'
    ? fileHasTable(resolve(place.path), `${sqliteDialect.prefix}audit`)
    : hasTable(place.url, `"${place.schema}"."audit"`)

async function openStorage(place: Exclude<Place, { readonly kind: 'directory' }>): Promise<Storage> {
  if (place.kind === 'sqlite') {
    const { sqliteStorage } = await import('../../../adapters/storage/sqlite.ts')
    return sqliteStorage({ path: place.path, migrate: false })
  }
  const { postgresStorage } = await import('../../../adapters/storage/postgres.ts')
  return postgresStorage({ url: place.url, schema: place.schema, poolSize: 1, migrate: false })
}
