/** The switch that makes a network read-only, and takes its writes again. */
import { pageOf } from '../layout/layout.ts'
import { type PanelResponse, seeOther } from '../request/respond.ts'
import type { Route, View } from '../route.ts'
import { html } from '../ui/html.ts'
import { confirmation } from '../ui/parts.ts'

async function confirm(view: View): Promise<PanelResponse> {
  const back = view.link('overview')
  const question = view.network.read_only
    ? {
        title: 'Take writes again?',
        button: 'Take writes',
        text: html`<p>The API and the panel change the network again.</p>`,
        back,
      }
    : {
        ...{ title: 'Make the network read-only?', button: 'Make it read-only', back },
        text: html`<p>Its API refuses every write with a 503 that says when to try again, and so do the forms of the panel. Reads and
deliveries go on. Writes that are under way end first.</p>`,
      }
  const fields = html`<input type="hidden" name="read_only" value="${String(!view.network.read_only)}">`
  return pageOf(view, question.title, confirmation({ ...question, fields }))
}

async function change(view: View): Promise<PanelResponse> {
  // As the page has said: another visitor may have been faster.
  await view.acting.networks.update(view.id, { read_only: view.form.get('read_only') === 'true' })
  return seeOther(view.link('overview'))
}

export const readOnlyRoutes: readonly Route[] = [
  { method: 'GET', path: 'read-only', action: 'network.read_only', handle: confirm },
  { method: 'POST', path: 'read-only', action: 'network.read_only', handle: change },
]
