/** One row of the storage to the server: made there if it is new, changed there if it has changed. */
import { createHash } from 'node:crypto'
import type { ClientError } from '../../../../lib/client/index.ts'
import { isClientError } from '../../../../lib/client/index.ts'
import { isSame } from '../../../../lib/storage/changes.ts'
import type { Row } from '../../../../lib/storage/table.ts'
import { CommandFailure } from '../../../usage.ts'
import { isGiven, textOf } from '../given.ts'
import type { Asked, Entry, Journal } from './journal.ts'
import { LeftOut, type Push, type PushStage } from './push-stage.ts'

/** The result for a row. */
export type Outcome = 'sent' | 'matched' | 'changed' | 'unchanged'

export interface Sending extends Push {
  readonly journal: Journal
  /** Whether nothing is sent. */
  readonly isDry: boolean
  /** The directory of uploads. */
  readonly assets: string
  /** Records in a row whose request was a fault of the server. */
  faults: number
  /** How often a 409 is asked again before it counts as a record that is there already. */
  conflictTries: number
}

type Fields = Readonly<Record<string, unknown>>

const hashOf = (text: string, length: number): string => createHash('sha256').update(text).digest('base64url').slice(0, length)
const valueHash = (value: unknown): string => hashOf(JSON.stringify(value ?? null), 12)

export const keyOf = ({ key }: PushStage, row: Row): string => key?.(row) ?? row.id
export const labelOf = (stage: PushStage, row: Row): string => `${stage.label} ${keyOf(stage, row)}`

/**
 * Sends a row, as far as it is not on the server as it is.
 * @throws LeftOut if it cannot be there; ClientError, UsageError, StorageError if the push cannot continue
 */
export async function sendRow(push: Sending, stage: PushStage, row: Row): Promise<Outcome> {
  const reason = stage.reason?.(row, push)
  if (reason !== undefined) throw new LeftOut(reason)
  const label = labelOf(stage, row)
  const before = push.journal.get(label) ?? (stage.isAlways ? nothingSent : undefined)
  if (!before && stage.create === undefined) throw new LeftOut(stage.missing ?? '')
  const made = before ? undefined : await create(push, stage, row, label)
  const isChanged = await change(push, stage, row, label, made?.entry ?? before)
  return made?.outcome ?? (isChanged ? 'changed' : 'unchanged')
}

const nothingSent: Entry = { to: '', sent: {} }

async function create(
  push: Sending,
  stage: PushStage,
  row: Row,
  label: string,
): Promise<{ readonly outcome: Outcome; readonly entry: Entry }> {
  const { journal } = push
  const begun = journal.begun(label)
  const asked = begun ?? (await askedFor(push, stage, row, label))
  if (push.isDry) return note(push, stage, row, asked, { id: `new ${label}` }, 'sent')
  if (!begun) await journal.begin(asked)
  try {
    return await note(push, stage, row, asked, await post(push, asked, stage.taken !== undefined), 'sent')
  } catch (error) {
    if (!isClientError(error)) throw error
    const taken = [409, 422].includes(error.status ?? 0) ? await stage.taken?.(row, push).catch(orGone) : undefined
    if (taken !== undefined) {
      if (error.status === 409) push.conflictTries = 0
      return note(push, stage, row, asked, { id: taken }, 'matched')
    }
    if (isNoSuchPath(error, asked)) throw error
    const left = leftBy(push, error)
    if (left.isCertain) await journal.refused()
    // The row has changed since the request that was refused now.
    if (begun && left.isCertain) return create(push, stage, row, label)
    throw left.reason
  }
}

/** Whether a 404 is about the path itself: nothing in the request names a record. */
const isNoSuchPath = ({ status }: ClientError, { params, body }: Asked): boolean =>
  status === 404 && Object.keys(params).length === 0 && !Object.keys(Object(body)).some((name) => /_ids?$/.test(name))

/** A look-up that finds nothing. @throws any other error */
function orGone(error: unknown): undefined {
  if (isClientError(error) && (error.status === 404 || error.status === 403)) return undefined
  throw error
}

async function askedFor(push: Sending, stage: PushStage, row: Row, label: string): Promise<Asked> {
  const operation = stage.create ?? ''
  const params = stage.params?.(row, push) ?? {}
  const query = stage.query?.(row, push) ?? {}
  // As it is read back from the file, so that a repeat is the same request.
  return JSON.parse(JSON.stringify({ label, operation, params, query, body: await stage.body?.(row, push) }))
}

/** Notes a record that is there. */
async function note(
  push: Sending,
  stage: PushStage,
  row: Row,
  asked: Asked,
  answer: unknown,
  outcome: Outcome,
): Promise<{ readonly outcome: Outcome; readonly entry: Entry }> {
  const record = isGiven(answer) ? answer : {}
  const to = stage.hasNoId ? '' : textOf(record['id'])
  if (to === '' && !stage.hasNoId) throw new CommandFailure(`${asked.operation}: the server has answered without an id`)
  const body = isGiven(asked.body) ? asked.body : {}
  const related = outcome === 'sent' ? ((await stage.related?.(row, record, push)) ?? []) : []
  if (related.length > 0)
    await push.journal.add(related.map(([table, key, other]) => [`${table} ${key}`, { to: other, sent: {} }]))
  const fields = Object.entries(await changesOf(push, stage, row))
  // A record that was there already stays as it is, until its row changes.
  const sent = outcome === 'matched' ? fields : fields.filter(([name, value]) => isSame(body[name] ?? null, value ?? null))
  const entry = { to, sent: hashesOf(sent) }
  await push.journal.add([[asked.label, entry]])
  return { outcome, entry }
}

const changesOf = async (push: Sending, stage: PushStage, row: Row): Promise<Fields> => (await stage.changes?.(row, push)) ?? {}

const hashesOf = (fields: readonly (readonly [string, unknown])[]): Readonly<Record<string, string>> =>
  Object.fromEntries(fields.map(([name, value]) => [name, valueHash(value)]))

/** Sends the fields that are not as they were sent. @returns whether there were any */
async function change(push: Sending, stage: PushStage, row: Row, label: string, before: Entry | undefined): Promise<boolean> {
  if (!before || stage.update === undefined) return false
  const fields = await changesOf(push, stage, row)
  const columns = stage.columns ?? stage.table.columns
  const isNew = ([name, value]: readonly [string, unknown]): boolean => {
    const sent = before.sent[name]
    return sent === undefined ? !isSame(value ?? null, columns[name]?.default ?? null) : sent !== valueHash(value)
  }
  const changed = Object.entries(fields).filter(isNew)
  if (changed.length === 0) return false
  const params = { id: before.to, ...stage.params?.(row, push) }
  const query = stage.query?.(row, push) ?? {}
  const body = stage.isWhole ? fields : Object.fromEntries(changed)
  if (!push.isDry)
    await call(push, { label, operation: stage.update, params, query, body }).catch((error: unknown) => {
      throw isClientError(error) ? leftBy(push, error).reason : error
    })
  await push.journal.add([[label, { to: before.to, sent: { ...before.sent, ...hashesOf(changed) } }]])
  return true
}

/** One key per record and request: a server that has done it answers the same again. */
function call(push: Sending, asked: Asked, maxRetries?: number): Promise<unknown> {
  const { label, operation, params, query, body } = asked
  const idempotencyKey = `folkmoot-push-${push.journal.id}-${hashOf(JSON.stringify([label, operation, params, query, body]), 32)}`
  const options = { idempotencyKey, ...(maxRetries === undefined ? {} : { maxRetries }) }
  return push.target
    .run(async () => push.target.client.call(operation, { params, query, ...(body === undefined ? {} : { body }) }, options))
    .then((answer: unknown) => {
      push.faults = 0
      return answer
    })
}

/** A client asks again after a 409; but some servers answer so if a record is there already, however often they are asked. */
async function post(push: Sending, asked: Asked, mayBeTaken: boolean): Promise<unknown> {
  if (!mayBeTaken) return call(push, asked)
  try {
    return await call(push, asked, push.conflictTries)
  } catch (error) {
    const isPassing = isClientError(error) && [undefined, 408, 429, 503].includes(error.status)
    if (!isPassing) throw error
    return call(push, asked)
  }
}

/** Records in a row whose request was a fault of the server: then it is no fault of the records. */
const mostFaults = 5

/**
 * Why a record is left out.
 * @returns `isCertain` if the server has certainly not made it
 * @throws ClientError if the push cannot continue
 */
function leftBy(push: Sending, error: ClientError): { readonly reason: LeftOut; readonly isCertain: boolean } {
  const { status = 0 } = error
  const isFault = status >= 500 && status !== 503 && status !== 501
  if (isFault && ++push.faults >= mostFaults) throw error
  const isRefusal = status >= 400 && status < 500 && ![401, 405, 408, 429].includes(status)
  if (!isFault && (!isRefusal || isForbidden(error))) throw error
  return { reason: new LeftOut(sentenceOf(error), true), isCertain: !isFault }
}

/** Whether the token may not do this at all (interface.md, 6.4). A refusal of one record has a sentence alone. */
export const isForbidden = ({ status, body }: ClientError): boolean =>
  status === 403 && isGiven(body) && typeof body['message'] === 'string'

function sentenceOf({ status, body }: ClientError): string {
  const sentence = isGiven(body) ? textOf(body['message']) || textOf(body['error']) : ''
  return sentence === '' ? `the server answers ${status}` : `${status}: ${sentence.slice(0, 300)}`
}
