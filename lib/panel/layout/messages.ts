/** Pages without a network: refusals, and faults, which show no internals. */

import { TooSlow } from '../../base/timeout.ts'
import { isApiError } from '../../errors.ts'
import { isStorageError } from '../../storage/contract.ts'
import { type PanelResponse, page } from '../request/respond.ts'
import type { Brand } from '../ui/brand.ts'
import { html } from '../ui/html.ts'
import { bare } from './layout.ts'

export interface Look {
  readonly brand: Brand
  readonly css: string
  readonly js: string
  /** The way back, for a visitor who has access. */
  readonly back?: string
}

export async function messagePage(
  { back, ...look }: Look,
  status: number,
  title: string,
  text: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<PanelResponse> {
  const response = await page(
    bare(
      { title, ...look },
      html`<h1>${title}</h1><p>${text}</p>${back !== undefined && html`<p><a class="button" href="${back}">Back to the panel</a></p>`}`,
    ),
    status,
  )
  return { ...response, headers: { ...response.headers, ...headers } }
}

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
