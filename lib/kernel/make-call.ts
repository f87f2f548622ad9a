/** The context of a handler, made for one run of its operation in one transaction. */
import type { AnyCall } from '../call.ts'
import type { Context, Principal } from '../context.ts'
import type { Emission } from '../events/envelope.ts'
import type { Settings } from '../settings.ts'
import type { ScopedTx } from '../storage/scoped.ts'
import type { Id } from '../storage/table.ts'
import { readPage } from './page.ts'
import { permalinks } from './permalinks.ts'
import type { Run } from './run.ts'

/** What a call needs of its transaction. */
export interface CallParts {
  readonly tx: ScopedTx
  readonly principal: Principal
  readonly newId: () => Id
  /** Gets the events that the handler emits. */
  readonly emissions: Emission[]
}

/** The part of a context that is the same for every handler and rule. */
export const makeContext = (
  settings: Settings,
  { tx, network, principal, now, newId }: Pick<Context, 'tx' | 'network' | 'principal' | 'now' | 'newId'>,
): Context => ({
  tx,
  network,
  principal,
  now,
  newId,
  stamp: () => ({ id: newId(), created_at: now, updated_at: now }),
  touch: () => ({ updated_at: now }),
  permalink: permalinks(settings, network),
  ports: settings.ports,
  limits: settings.limits,
  newMembersConsent: settings.newMembersConsent,
})

export function makeCall(settings: Settings, run: Run, { tx, principal, newId, emissions }: CallParts): AnyCall {
  const { request, api, now, paging } = run
  return {
    ...makeContext(settings, { tx, network: request.network, principal, now, newId }),
    params: request.params,
    query: run.query,
    body: run.body,
    prepared: run.prepared,
    emit(name, payload, change) {
      if (api && !api.emits.includes(name)) throw new Error(`${api.id} does not declare the event ${name}`)
      emissions.push({ name, payload, change })
    },
    async page(table, query, presentRows) {
      const page = await readPage(tx, table, paging, query)
      return { ...page, items: presentRows ? await presentRows(page.items) : page.items }
    },
    whole: (items) => ({
      items: paging.page === 1 ? items : [],
      after: null,
      ...(paging.isCounted ? { count: items.length } : {}),
    }),
  }
}
