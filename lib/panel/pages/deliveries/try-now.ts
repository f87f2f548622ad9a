/** *Try now*: what waits for a cooldown or its next attempt is sent now, after a question. */
import { ApiError, found } from '../../../errors.ts'
import type { DeliveryDetail, EndpointStatus } from '../../../relay/relay-admin.ts'
import { callRelay, requireValue } from '../../layout/call-relay.ts'
import { pageOf } from '../../layout/layout.ts'
import { eventName } from '../../layout/wording.ts'
import { may } from '../../request/access.ts'
import { type PanelResponse, seeOther } from '../../request/respond.ts'
import type { Route, View } from '../../route.ts'
import { type Html, html } from '../../ui/html.ts'
import { confirmation, number, time } from '../../ui/parts.ts'

/** Whether the relay holds everything back that waits for an endpoint: it keeps failing, or has said when to come again. */
function isOnHold({ state, circuit, next_attempt_at }: EndpointStatus, due: string | null, now: number): boolean {
  if (state !== 'active') return false
  const next = next_attempt_at ?? ''
  return circuit === 'open' || (next > new Date(now).toISOString() && next > (due ?? next))
}

const link = (view: View, path: string): Html | false =>
  may(view.visitor, 'deliveries.resend') && html`<a class="button" href="${view.link(`${path}/try`)}" data-dialog>Try now</a>`

/** The way to the question, for an endpoint that is on hold. */
export const tryEndpoint = (view: View, health: EndpointStatus | undefined): Html | false =>
  health !== undefined && isOnHold(health, null, view.settings.clock.now()) && link(view, `webhooks/${health.endpoint_id}`)

/** The way to the question, for a delivery that waits for something else than a person. */
export function tryDelivery(view: View, delivery: DeliveryDetail, health: EndpointStatus | undefined): Html | false {
  const { state, next_attempt_at: due } = delivery
  const now = view.settings.clock.now()
  if (state !== 'pending' || health?.activity === 'unreadable' || health?.activity === 'set aside' || health?.state !== 'active')
    return false
  const waits = isOnHold(health, due, now) || Date.parse(due ?? '') > now
  return waits && link(view, `deliveries/${encodeURIComponent(delivery.id)}`)
}

async function healthOf(view: View, endpoint_id: string): Promise<EndpointStatus> {
  const { endpoints } = requireValue(await callRelay(view, (relay) => relay.status({ network_id: view.id })))
  return found(
    endpoints.find((each) => each.endpoint_id === endpoint_id),
    'Endpoint',
  )
}

const slowly = html`<p>Sending to the endpoint begins again, slowly at first. If the receiver still fails, the endpoint is on hold again.</p>`

function question(view: View, path: string, title: string, text: Html): Promise<PanelResponse> {
  const asked = confirmation({ title, text, button: 'Try now', tone: 'primary', back: view.link(path) })
  return pageOf(view, 'Try now', asked)
}

async function askEndpoint(view: View): Promise<PanelResponse> {
  const { endpoint_id, name, origin, pending } = await healthOf(view, view.params['id'] ?? '')
  const text = html`<p>${number(pending)} ${pending === 1 ? 'delivery waits' : 'deliveries wait'}.</p>${slowly}`
  return question(view, `webhooks/${endpoint_id}`, `Try ${name ?? new URL(origin).host} now?`, text)
}

async function resume(view: View, endpoint_id: string): Promise<void> {
  found(requireValue(await callRelay(view, (relay) => relay.closeCircuit({ network_id: view.id, endpoint_id }))), 'Endpoint')
}

async function deliveryOf(view: View) {
  const id = view.params['id'] ?? ''
  const delivery = found(requireValue(await callRelay(view, (relay) => relay.get({ network_id: view.id, id }))), 'Delivery')
  if (delivery.state !== 'pending') throw new ApiError(409, { error: 'The delivery no longer waits.' })
  const health = await healthOf(view, delivery.endpoint_id)
  const isHeld = isOnHold(health, delivery.next_attempt_at, view.settings.clock.now())
  return { delivery, isHeld, path: `deliveries/${encodeURIComponent(id)}` }
}

async function askDelivery(view: View): Promise<PanelResponse> {
  const { delivery, isHeld, path } = await deliveryOf(view)
  const text = html`<p>It is sent now, and not at ${time(delivery.next_attempt_at)}. Its attempts count on.</p>${isHeld && slowly}`
  return question(view, path, `Try ${eventName(delivery)} now?`, text)
}

async function sendDelivery(view: View): Promise<PanelResponse> {
  const { delivery, isHeld, path } = await deliveryOf(view)
  const named = { ids: [delivery.id], per_second: 1, ...view.by, network_id: view.id }
  requireValue(await callRelay(view, (relay) => relay.resend(named)))
  if (isHeld) await resume(view, delivery.endpoint_id)
  return seeOther(view.link(path, { done: 'resent' }))
}

export const tryNowRoutes: readonly Route[] = [
  { method: 'GET', path: 'webhooks/:id/try', action: 'deliveries.resend', handle: askEndpoint },
  {
    method: 'POST',
    path: 'webhooks/:id/try',
    action: 'deliveries.resend',
    async handle(view) {
      const { endpoint_id: id } = await healthOf(view, view.params['id'] ?? '')
      await resume(view, id)
      return seeOther(view.link(`webhooks/${id}`, { done: 'tried' }))
    },
  },
  { method: 'GET', path: 'deliveries/:id/try', action: 'deliveries.resend', handle: askDelivery },
  { method: 'POST', path: 'deliveries/:id/try', action: 'deliveries.resend', handle: sendDelivery },
]
