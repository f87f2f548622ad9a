/**
 * Forms that make a secret are taken once. A reload of the page with the secret, the way forward to it, and a double click send
 * the same form again. It then makes nothing, in any process, and shows nothing.
 */
import { systemChance } from '../../base/chance.ts'
import { ApiError, isApiError } from '../../errors.ts'
import type { PanelResponse } from '../request/respond.ts'
import type { View } from '../route.ts'
import { type Html, html } from '../ui/html.ts'
import { note } from '../ui/parts.ts'
import { pageOf } from './layout.ts'

/** A field with a fresh value each time the form opens. */
export const onceField = (): Html => html`<input type="hidden" name="once" value="${systemChance.uuid()}">`

/**
 * Whether this form was sent before. It counts as sent from now on, unless `making` finds that its values are refused.
 * @throws ApiError 422 for a field that no page has made
 */
export async function wasSentBefore({ community, id, form }: View): Promise<boolean> {
  const once = form.get('once')
  if (once === '') return false
  if (!/^[\da-f-]{36}$/.test(once)) throw new ApiError(422, { error: 'This form is damaged. Open it again.' })
  return !(await community.consumeOnce({ network: id, key: once }))
}

/**
 * Does what a form is for. If its values are refused nothing was made, so the same form may be sent again: by another tab, or from a
 * page that the browser has kept.
 */
export async function making<T>({ community, id, form }: View, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    const once = form.get('once')
    if (once !== '' && isApiError(error) && error.status < 500) await community.giveBack({ network: id, key: once })
    throw error
  }
}

/** The page for a form that was sent before. @param advice how to get another secret, if the first is lost */
export const sentBeforePage = (view: View, advice: string, list: string): Promise<PanelResponse> =>
  pageOf(
    view,
    'Sent before',
    html`<h1>This form was sent before</h1>
${note('warn', html`<p>Nothing more was made. A new value is in the first response.</p>`)}
<p>${advice}</p><p><a class="button primary" href="${list}">Back</a></p>`,
    409,
  )
