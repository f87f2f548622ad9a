/** Pages without a network: refusals, and faults, which show no internals. */

import { TooSlow } from '../../base/timeout.ts'
import { isApiError } from '../../errors.ts'
import { isStorageError } from '../../storage/contract.ts'
import { type PanelResponse, page } from '../request/respond.ts'
import type { View } from '../route.ts'
import type { Brand } from '../ui/brand.ts'
import { type Html, html } from '../ui/html.ts'
import { bare, pageOf } from './layout.ts'

export interface Look {
  readonly brand: Brand
  readonly css: string
  readonly js: string
  /** The way back, for a visitor who has access. */
  readonly back?: string
}

type Message = readonly [status: number, title: string, text: string, headers?: Readonly<Record<string, string>>]

async function respond(
  [status, title, text, headers = {}]: Message,
  framed: (content: Html) => Promise<PanelResponse>,
  back?: readonly [href: string, label: string],
): Promise<PanelResponse> {
  const link = back && html`<p><a class="button" href="${back[0]}">${back[1]}</a></p>`
  const response = await framed(html`<h1>${title}</h1><p>${text}</p>${link}`)
  return { ...response, status, headers: { ...response.headers, ...headers } }
}

export const messagePage = ({ back, ...look }: Look, ...message: Message): Promise<PanelResponse> =>
  respond(
    message,
    (content) => page(bare({ title: message[1], ...look }, content)),
    back === undefined ? undefined : [back, 'Back to the panel'],
  )

/** The same among the pages of a network: its navigation stays, and the news that it is read-only. */
export const refusalPage = (view: View, ...message: Message): Promise<PanelResponse> =>
  respond(message, (content) => pageOf(view, message[1], content), [view.link(view.section), 'Back'])

interface Fault {
  readonly status: number
  readonly text: string
}

function faultOf(error: unknown): Fault {
  if (error instanceof TooSlow) return { status: 504, text: 'It took too long.' }
  const isStorage = isStorageError(error) || (isApiError(error) && error.status === 503)
  if (isStorage) return { status: 503, text: 'The storage is busy or cannot be reached.' }
  return { status: 500, text: 'Something failed on the side of the server.' }
}

/** The response to a fault. Whether a form has changed something is then unknown. */
export function faultPage(look: Look, error: unknown, isForm: boolean, request_id: string): Promise<PanelResponse> {
  const { status, text } = faultOf(error)
  const advice = isForm ? 'Before you send the form again, look whether its change is there.' : 'Reload the page in a moment.'
  const cause = `If it stays so, notify the operator: the log has the cause, under request ${request_id}.`
  return messagePage(look, status, 'Not possible now', `${text} ${advice} ${cause}`, status === 500 ? {} : { 'retry-after': '5' })
}
