/** The credentials of a webhook endpoint: the form that rotates them, and the page that shows them. */
import type { Endpoint, EndpointCredentials } from '../../../host/endpoints/endpoint.ts'
import { addressNote } from '../../layout/address-note.ts'
import { making, onceField, sentBeforePage, wasSentBefore } from '../../layout/form-once.ts'
import { pageOf } from '../../layout/layout.ts'
import type { Form } from '../../request/form.ts'
import type { PanelResponse } from '../../request/respond.ts'
import type { Route, View } from '../../route.ts'
import { type Html, html } from '../../ui/html.ts'
import { check, group, news, noProblems, note, type Problems, problemsOf, secret, select, summary, time } from '../../ui/parts.ts'
import { ownEndpointOf } from './webhooks.ts'

const fields = ['token', 'secrets', 'keepOldSeconds']

/** The private key of a pair is not needed outside: its public half is shown, here and later. */
const signingPart = (signing: string, open = ''): Html =>
  signing.startsWith('whsk_')
    ? html`<h2>Public key</h2>${secret('secret', 'The public key', open)}<p class="hint">The receiver checks each delivery with it.</p>`
    : html`<h2>Signing secret</h2>${secret('secret', 'The signing secret', signing)}<p class="hint">Each delivery is signed with it.</p>`

export const credentialsPage = (
  view: View,
  title: string,
  { id, url, public_keys: [open] }: Pick<Endpoint, 'id' | 'url' | 'public_keys'>,
  { token, secrets: [signing] = [] }: Partial<EndpointCredentials>,
  status = 200,
): Promise<PanelResponse> =>
  pageOf(
    view,
    title,
    html`<h1>${title}</h1><p class="mono">${url}</p>${addressNote(view, url)}
${news('warn', html`<p><strong>Copy them now.</strong> The receiver needs them. A later look leaves a line in the audit.</p>`)}
${token ? html`<h2>Token</h2>${secret('token', 'The token', token)}<p class="hint">Sent as <code>Authorization: Bearer</code>.</p>` : ''}
${signing !== undefined && signingPart(signing, open)}
<p><a class="button" href="${view.link(`webhooks/${id}`)}">To the endpoint</a></p>`,
    status,
  )

const keeps: readonly (readonly [seconds: string, label: string])[] = [
  ['86400', 'A day'],
  ['3600', 'An hour'],
  ['604800', 'A week'],
  ['0', 'No longer: it ends immediately'],
]

const keepHint = 'In this time the receiver is changed. Then they end by themselves.'

function rotateForm(view: View, endpoint: Endpoint, form: Form, problems: Problems): Promise<PanelResponse> {
  const both = form.get('sent') === ''
  const until = endpoint.old_token_until ?? endpoint.old_secrets_until
  return pageOf(
    view,
    'Rotate',
    html`<h1>Rotate token and secret</h1><p class="mono">${endpoint.url}</p>${summary(problems)}
${until && note('calm', html`<p>Old ones are still valid until ${time(until)}.</p>`)}
<form method="post"><input type="hidden" name="sent" value="1">${onceField()}
${group(
  { name: 'token', label: 'Replace', problems },
  html`<p>${check('checkbox', 'token', 'make', 'The token', both || form.has('token'))}<br>
${check('checkbox', 'secrets', 'make', 'The signing secret', both ? endpoint.signed : form.has('secrets'))}</p>`,
)}
${select({ name: 'keepOldSeconds', label: 'The old ones stay valid for', hint: keepHint, problems }, keeps, form.get('keepOldSeconds'))}
<p class="row"><button class="primary">Rotate</button> <a class="button" href="${view.link(`webhooks/${endpoint.id}`)}">Cancel</a></p></form>`,
    problems.size > 0 ? 422 : 200,
  )
}

export const webhookCredentialRoutes: readonly Route[] = [
  {
    method: 'POST',
    path: 'webhooks/:id/reveal',
    action: 'endpoints.reveal',
    async handle(view) {
      const endpoint = await ownEndpointOf(view)
      const shown = await view.acting.endpoints.reveal(view.id, endpoint.id)
      return credentialsPage(view, 'Token and secret', endpoint, shown)
    },
  },
  {
    method: 'GET',
    path: 'webhooks/:id/rotate',
    action: 'endpoints.rotate',
    handle: async (view) => rotateForm(view, await ownEndpointOf(view), view.query, noProblems),
  },
  {
    method: 'POST',
    path: 'webhooks/:id/rotate',
    action: 'endpoints.rotate',
    async handle(view) {
      const endpoint = await ownEndpointOf(view)
      const { form } = view
      if (await wasSentBefore(view))
        return sentBeforePage(view, 'Open the endpoint to see its token and secret.', view.link(`webhooks/${endpoint.id}`))
      try {
        const made = await making(view, () =>
          view.acting.endpoints.rotate(view.id, endpoint.id, {
            ...(form.has('token') ? { token: true } : {}),
            ...(form.has('secrets') ? { secrets: true } : {}),
            keepOldSeconds: Number(form.get('keepOldSeconds') || 86_400),
          }),
        )
        return credentialsPage(view, 'The new credentials', endpoint, made)
      } catch (error) {
        return rotateForm(view, endpoint, form, problemsOf(error, fields))
      }
    },
  },
]
