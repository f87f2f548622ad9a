/** A storage whose transactions are spans, and whose events carry the trace that they belong to. */
import { errorType, type Span, type Tracing } from '../base/tracing.ts'
import { isApiError } from '../errors.ts'
import type { OutboxRecord } from '../outbox/record.ts'
import { isStorageError, isUniqueViolation, type Storage, type Tx } from './contract.ts'

/** The names of databases in OpenTelemetry's conventions, by the address of their outbox. */
function databaseOf({ outbox = '' }: Storage): string | undefined {
  if (/^postgres(ql)?:/.test(outbox)) return 'postgresql'
  return outbox.startsWith('sqlite:') ? 'sqlite' : undefined
}

/** Whether it is no failure that a transaction ends with this: a refusal, or a lost race, after which the work runs again. */
const isExpected = (error: unknown): boolean =>
  isApiError(error) ? error.status < 500 : isUniqueViolation(error) || (isStorageError(error) && error.code === 'conflict')

/**
 * The same storage, with a span for each transaction.
 * @param database its name in OpenTelemetry's conventions
 */
export function traced(storage: Storage, tracing: Tracing, database = databaseOf(storage)): Storage {
  const system = database === undefined ? {} : { 'db.system.name': database }

  async function inSpan<T>(kind: 'read' | 'write', run: (span: Span) => Promise<T>): Promise<T> {
    const facts = { ...system, 'folkmoot.transaction.kind': kind }
    const span = tracing.start({ name: `transaction ${kind}`, kind: 'internal', facts })
    try {
      const result = await span.within(() => run(span))
      span.end()
      return result
    } catch (error) {
      span.end(isExpected(error) ? undefined : errorType(error))
      throw error
    }
  }

  // Several writers may run in one commit, so each finds itself in the context of another: `within` again.
  const writes =
    <T>(span: Span, work: (tx: Tx) => Promise<T>) =>
    (tx: Tx) =>
      span.within(() => work(carrying(tx, span.traceparent)))

  const { fast, using } = storage
  return {
    transaction: (work, options) =>
      options?.readOnly
        ? inSpan('read', (span) => storage.transaction((tx) => span.within(() => work(tx)), options))
        : inSpan('write', (span) => storage.transaction(writes(span, work), options)),
    ...(storage.outbox === undefined ? {} : { outbox: storage.outbox }),
    close: () => storage.close(),
    ...(using ? { using: (native) => traced(using.call(storage, native), tracing, database) } : {}),
    ...(fast ? { fast } : {}),
    ...(storage.snapshots ? { snapshots: storage.snapshots } : {}),
  }
}

/** A transaction whose events carry a trace. */
function carrying(tx: Tx, trace: string | undefined): Tx {
  if (trace === undefined) return tx
  const withTrace = (record: OutboxRecord): OutboxRecord => (record.kind === 'event' ? { ...record, trace } : record)
  return {
    get: (table, id) => tx.get(table, id),
    find: (table, query) => tx.find(table, query),
    count: (table, query) => tx.count(table, query),
    insert: (table, row) => tx.insert(table, row),
    update: (table, id, patch, guard) => tx.update(table, id, patch, guard),
    increment: (table, id, by, guard) => tx.increment(table, id, by, guard),
    remove: (table, id, guard) => tx.remove(table, id, guard),
    lock: (table, id, strength) => tx.lock(table, id, strength),
    append: (records) => tx.append(records.map(withTrace)),
    // On request, it hands the connection over to the host.
    get native() {
      return tx.native
    },
  }
}
