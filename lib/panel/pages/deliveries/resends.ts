/** Resending deliveries: the question with count and filter, the progress, and its stop. */
import { ApiError, found } from '../../../errors.ts'
import type { CappedCount, DeliveryFilter, ResendProgress, ResendRequest } from '../../../relay/relay-admin.ts'
import { callRelay, requireValue } from '../../layout/call-relay.ts'
import { endpointNames } from '../../layout/endpoint-names.ts'
import { pageOf } from '../../layout/layout.ts'
import { type PanelResponse, seeOther } from '../../request/respond.ts'
import type { Route, View } from '../../route.ts'
import { type Html, html } from '../../ui/html.ts'
import { badge, confirmation, note, number, select, time } from '../../ui/parts.ts'
import { described, filterFrom, hiddenFields } from './filter.ts'

const maxSelected = 100
const rates = ['10', '1', '100', '1000']

const counted = ({ count, exact }: CappedCount): string => `${number(count)}${exact ? '' : '+'}`

const idsIn = (form: View['form']): readonly string[] => [...new Set(form.all('id').filter((id) => /^\S{1,200}$/.test(id)))]

/** Deliveries that are named, or a filter. */
type ResendSelection = Pick<ResendRequest, 'ids'> & DeliveryFilter

/** The deliveries that a form names. @throws ApiError 422 for none, and for a filter that cannot be right */
function selectionOf(form: View['form']): { readonly selection: ResendSelection; readonly fields: readonly Html[] } {
  if (form.has('all')) {
    const { filter, query, problems } = filterFrom(form)
    const [problem] = problems.values()
    if (problem !== undefined) throw new ApiError(422, { error: problem })
    // To resend what was delivered or skipped, a person has to choose that state.
    const selection = { state: 'dead' as const, ...filter }
    const fields = [html`<input type="hidden" name="all" value="1">`, ...hiddenFields({ state: 'dead', ...query })]
    return { selection, fields }
  }
  const ids = idsIn(form)
  if (ids.length === 0) throw new ApiError(422, { error: 'Select at least one delivery.' })
  if (ids.length > maxSelected) throw new ApiError(422, { error: `Select at most ${maxSelected} deliveries.` })
  return { selection: { ids }, fields: ids.map((id) => html`<input type="hidden" name="id" value="${id}">`) }
}

/** The question, with the count and the filter that the change goes by. */
async function confirm(view: View): Promise<PanelResponse> {
  const { query } = filterFrom(view.query)
  // The list shows what is missing, and keeps its filter.
  if (!view.query.has('all') && idsIn(view.query).length === 0)
    return seeOther(view.link('deliveries', { ...query, done: 'nothing' }))
  const { selection, fields } = selectionOf(view.query)
  const count = selection.ids
    ? { count: selection.ids.length, exact: true }
    : requireValue(await callRelay(view, (relay) => relay.count({ ...selection, network_id: view.id })))
  if (count.count === 0) {
    const { state: _, ...others } = query
    return seeOther(view.link('deliveries', { ...others, done: 'none' }))
  }
  const many = count.count === 1 && count.exact ? '1 delivery' : `${counted(count)} deliveries`
  const nameOf = endpointNames(await view.community.endpoints.list(view.id))
  const text = html`${selection.ids ? html`<p>The selected ones.</p>` : described({ state: 'dead', ...query }, nameOf)}
<p>Each is sent again, and gets its full number of attempts. Deliveries that are waiting stay as they are.</p>`
  const choices = rates.map((rate) => [rate, rate] as const)
  const pace = select({ name: 'rate', label: 'At most, each second' }, choices, '10')
  const question = confirmation({
    ...{ title: `Resend ${many}?`, text, button: `Resend ${many}`, tone: 'primary' },
    ...{ back: view.link('deliveries', query), fields: html`${fields}${pace}` },
  })
  return pageOf(view, 'Resend', question)
}

async function begin(view: View): Promise<PanelResponse> {
  const { selection } = selectionOf(view.form)
  const { state: _, ...query } = filterFrom(view.form).query
  const rate = view.form.get('rate')
  const per_second = rates.includes(rate) ? Number(rate) : 10
  const { by } = view
  const started = requireValue(
    await callRelay(view, (relay) => relay.resend({ ...selection, ...by, per_second, network_id: view.id })),
  )
  return seeOther(view.link(`deliveries/resends/${encodeURIComponent(started.id)}`, selection.ids ? {} : query))
}

const states: Readonly<Record<ResendProgress['state'], Html>> = {
  running: badge('warn', 'Running'),
  done: badge('good', 'Queued'),
  stopped: badge('calm', 'Stopped'),
  failed: badge('bad', 'Failed'),
}

async function show(view: View): Promise<PanelResponse> {
  const id = view.params['id'] ?? ''
  const { state, done, of, started_at } = found(
    requireValue(await callRelay(view, (relay) => relay.progress({ network_id: view.id, id }))),
    'Resend',
  )
  const isRunning = state === 'running'
  const refreshed = isRunning && html`data-refresh="2"`
  const stop = html`<form method="post" action="${view.link(`deliveries/resends/${encodeURIComponent(id)}/stop`)}"><button class="danger">Stop</button></form>`
  return pageOf(
    view,
    'Resend',
    html`<div class="head"><h1>Resend</h1><span ${refreshed} data-part="state">${states[state]}</span><div class="end" ${refreshed} data-part="stop">${isRunning && stop}</div></div>
<div ${refreshed} data-part="progress"><p><progress aria-label="Deliveries that are queued again" value="${done}" max="${Math.max(1, of.count)}"></progress></p>
<p>${number(done)} of ${counted(of)} are queued again, since ${time(started_at)}. Each is sent as soon as its endpoint accepts it: the list of deliveries shows which have arrived.</p>
${state === 'failed' && note('bad', html`<p>The relay could not finish. Begin again for the rest.</p>`)}
${isRunning && html`<p class="soft small">Reload the page to see more, if it does not change by itself.</p>`}</div>
<p><a href="${view.link('deliveries', filterFrom(view.query).query)}">To the deliveries</a></p>`,
  )
}

export const resendRoutes: readonly Route[] = [
  { method: 'GET', path: 'deliveries/resend', action: 'deliveries.resend', handle: confirm },
  { method: 'POST', path: 'deliveries/resend', action: 'deliveries.resend', handle: begin },
  { method: 'GET', path: 'deliveries/resends/:id', action: 'visit', handle: show },
  {
    method: 'POST',
    path: 'deliveries/resends/:id/stop',
    action: 'deliveries.resend',
    async handle(view) {
      const id = view.params['id'] ?? ''
      found(requireValue(await callRelay(view, (relay) => relay.stop({ network_id: view.id, id }))), 'Resend')
      return seeOther(view.link(`deliveries/resends/${encodeURIComponent(id)}`))
    },
  },
  {
    method: 'POST',
    path: 'deliveries/:id/resend',
    action: 'deliveries.resend',
    async handle(view) {
      const id = view.params['id'] ?? ''
      const resend = { ids: [id], per_second: 1, ...view.by, network_id: view.id }
      const started = requireValue(
        await callRelay(view, async (relay) =>
          (await relay.get({ network_id: view.id, id })) ? relay.resend(resend) : undefined,
        ),
      )
      found(started, 'Delivery')
      return seeOther(view.link(`deliveries/${encodeURIComponent(id)}`, { done: 'resent' }))
    },
  },
]
