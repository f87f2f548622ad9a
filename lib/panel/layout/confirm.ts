/** Confirmations that show what a change would do. */
import { isApiError } from '../../errors.ts'
import { isReadOnly } from '../../kernel/read-only.ts'
import { storageTrouble } from '../../kernel/storage-errors.ts'
import { noPreview } from '../../storage/with-tables.ts'
import type { ActingCalls } from '../request/acting-user.ts'
import type { PanelResponse } from '../request/respond.ts'
import type { View } from '../route.ts'
import { html } from '../ui/html.ts'
import { type Confirmation, capital, confirmation, dialog, note } from '../ui/parts.ts'
import { pageOf } from './layout.ts'

const unavailable = note('warn', html`<p>There is no preview now: the storage is busy or cannot be reached.</p>`)

/** The sentence of a preview, or why the change would be refused. */
export async function previewOf(view: View, work: (calls: ActingCalls) => Promise<unknown>) {
  try {
    const { sentence } = await view.community.preview((calls) => work(calls.by(view.by)))
    return { text: note('calm', html`<p>Preview: ${sentence}.</p>`), isRefused: false }
  } catch (error) {
    if (isReadOnly(error)) return { text: note('bad', html`<p>${error.message}.</p>`), isRefused: true }
    // The change itself may be made a moment later, such as the revocation of a key that leaked.
    if (storageTrouble(error) !== undefined || (isApiError(error) && error.status === 503))
      return { text: unavailable, isRefused: false }
    if (!isApiError(error) || error.status >= 500) throw error
    // The change itself may be made.
    const isUnseen = error.status === 413 || error.body === noPreview
    return { text: note(isUnseen ? 'warn' : 'bad', html`<p>${capital(error.message)}.</p>`), isRefused: !isUnseen }
  }
}

/**
 * The page before a change. Its form doesn't depend on the preview: a member who goes on posting can be banned all the same.
 * @param work the change, which is previewed. If it would be refused, the page says why, and has no form
 */
export async function confirmPage(
  view: View,
  question: Confirmation,
  work: (calls: ActingCalls) => Promise<unknown>,
): Promise<PanelResponse> {
  const { text, isRefused } = await previewOf(view, work)
  const { title, back } = question
  const refusal = html`${question.text}${text}<p><a class="button" href="${back}" data-close="Close">Back</a></p>`
  const content = isRefused ? dialog(title, refusal) : confirmation({ ...question, text: html`${question.text}${text}` })
  return pageOf(view, title, content)
}
