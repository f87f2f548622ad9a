import type { Context, Principal } from '../context.ts'
import type { Emission } from '../events/envelope.ts'
import type { AnyOperation, Page } from '../operation.ts'
import type { Settings } from '../settings.ts'
import type { Query } from '../storage/contract.ts'
import type { ScopedTx } from '../storage/scoped.ts'
import type { Id, Row, Table } from '../storage/table.ts'
import type { NetworkRow } from '../storage/tables.ts'
import { type Paging, readPage } from './page.ts'

/** What is known of a request when its transaction begins. */
export interface Input {
  readonly operation: AnyOperation
  readonly params: Readonly<Record<string, string>>
  readonly query: unknown
  readonly body: unknown
  readonly paging: Paging
  readonly principal: Principal
  readonly network: NetworkRow
  /** The time of the request, as a timestamp. */
  readonly now: string
  /** What links begin with: where the caller reached us. */
  readonly origin: string
  /**
   * Asked when the transaction of a read begins.
   * @throws ApiError 503 when too much is in flight for its answer to be made
   */
  readonly admit?: () => void
  /** Counts what is held beside the body: see `Preparation`. */
  readonly hold?: (bytes: number) => void
}

/** What a handler is given, whatever its operation: see `Call`. */
export interface AnyCall extends Context {
  readonly params: Readonly<Record<string, string>>
  readonly query: unknown
  readonly body: unknown
  readonly prepared: unknown
  emit(name: Emission['name'], payload: unknown): void
  page<R extends Row, N>(
    table: Table<R, N>,
    query?: Pick<Query<R>, 'where' | 'order'>,
    present?: (rows: readonly R[]) => readonly unknown[] | Promise<readonly unknown[]>,
  ): Promise<Page<unknown>>
}

/** The context of code that runs in a transaction of one network: a handler, or one of the host's own calls. */
export function makeContext(
  settings: Pick<Settings, 'permalink' | 'ports' | 'limits' | 'newMembersConsent'>,
  newId: () => Id,
  tx: ScopedTx,
  { network, principal, now }: Pick<Input, 'network' | 'principal' | 'now'>,
): Context {
  return {
    tx,
    network,
    principal,
    now,
    newId,
    stamp: () => ({ id: newId(), created_at: now, updated_at: now }),
    touch: () => ({ updated_at: now }),
    permalink: (kind, id) => settings.permalink({ kind, id, subdomain: network.subdomain, network_id: network.id }),
    ports: settings.ports,
    limits: settings.limits,
    newMembersConsent: settings.newMembersConsent,
  }
}

/** The context of one operation, and the list that `emit` writes to. */
export function makeCall(context: Context, input: Input, prepared: unknown): { call: AnyCall; emissions: Emission[] } {
  const emissions: Emission[] = []
  const call: AnyCall = {
    ...context,
    params: input.params,
    query: input.query,
    body: input.body,
    prepared,
    emit(name, payload) {
      if (!input.operation.emits.includes(name)) throw new Error(`${input.operation.id} does not declare the event ${name}`)
      emissions.push({ name, payload })
    },
    async page(table, query, present) {
      const { items, after } = await readPage(context.tx, table, input.paging, query)
      return { items: present ? await present(items) : items, after }
    },
  }
  return { call, emissions }
}
