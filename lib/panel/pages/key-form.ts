/** The form of a new API key. */
import { fail, invalid, isApiError } from '../../errors.ts'
import type { NewKey } from '../../host/keys.ts'
import { onceField } from '../layout/form-once.ts'
import { pageOf } from '../layout/layout.ts'
import type { Form } from '../request/form.ts'
import type { PanelResponse } from '../request/respond.ts'
import type { View } from '../route.ts'
import { html } from '../ui/html.ts'
import { capital, check, group, input, type Problems, problemsOf, summary, table } from '../ui/parts.ts'

const fields = ['name', 'scopes', 'member_id', 'expires_at']

/** @throws the error, if it is no refusal of values */
export const keyProblems = (error: unknown): Problems => problemsOf(error, fields)

/** The resource groups, each with the scopes that its operations need. */
function groupsOf({ community }: View): ReadonlyMap<string, ReadonlySet<string>> {
  const groups = new Map<string, Set<string>>()
  for (const { scope } of community.operations) {
    const [name = '', kind = ''] = scope.split(':')
    groups.set(name, (groups.get(name) ?? new Set()).add(kind))
  }
  return new Map([...groups].sort(([one], [other]) => (one < other ? -1 : 1)))
}

export async function keyFrom(view: View): Promise<NewKey> {
  const { form } = view
  const access = form.get('access')
  const scopes = access === '*' || access === '*:read' ? [access] : form.all('scopes')
  const [member, day] = [form.get('member_id').trim(), form.get('expires_at').trim()]
  return {
    network: view.id,
    name: form.get('name').trim(),
    scopes,
    ...(member === '' ? {} : { member_id: await memberOf(view, member) }),
    ...(day === '' ? {} : { expires_at: /^\d{4}-\d\d-\d\d$/.test(day) ? `${day}T23:59:59.999Z` : day }),
  }
}

/** A member by their address or id. */
async function memberOf({ community, id }: View, given: string): Promise<string> {
  if (!given.includes('@')) return given
  try {
    return (await community.call('members.by_email', { network: id, query: { email: given } })).id
  } catch (error) {
    if (isApiError(error) && error.status < 500)
      fail(invalid('member_id'), 'member_id must be a member: no member has this address')
    throw error
  }
}

const memberHint = 'E-mail address or id of a member. Empty: the first host of the network.'
const dayHint = 'A day, in UTC. Empty: until it is revoked.'

const words = (name: string): string => name.replaceAll('_', ' ')

export function createForm(view: View, form: Form, problems: Problems): Promise<PanelResponse> {
  const access = form.get('access')
  const chosen = new Set(form.all('scopes'))
  const groups = [...groupsOf(view)].map(
    ([name, kinds]) =>
      html`<tr><th scope="row">${capital(words(name))}</th>${['read', 'write'].map(
        (kind) =>
          html`<td>${kinds.has(kind) && check('checkbox', 'scopes', `${name}:${kind}`, html`${kind}<span class="sr"> ${words(name)}</span>`, chosen.has(`${name}:${kind}`))}</td>`,
      )}</tr>`,
  )
  return pageOf(
    view,
    'Create a key',
    html`<h1>Create an API key</h1>${summary(problems)}
<form method="post" action="${view.link('keys')}" autocomplete="off">${onceField()}
${input(
  { name: 'name', label: 'Name', hint: 'The program that uses it, so that you recognise it later.', problems },
  form.get('name'),
  html`type="text" dir="auto" required maxlength="255"`,
)}
${group(
  { name: 'scopes', label: 'Scopes', hint: 'Give no more than the program needs. “Write” does not include “read”.', problems },
  html`<p>${check('radio', 'access', 'chosen', 'The resources below', access !== '*' && access !== '*:read')}<br>
${check('radio', 'access', '*:read', 'Read everything', access === '*:read')}<br>
${check('radio', 'access', '*', 'Read and write everything', access === '*')}</p>
<div class="chosen">${table({ label: 'Scopes of resources', columns: ['Resource', 'Read', 'Write'], rows: groups, kind: 'narrow' })}</div>`,
)}
${input({ name: 'member_id', label: 'Acts for (optional)', hint: memberHint, problems }, form.get('member_id'))}
${input({ name: 'expires_at', label: 'Works until the end of (optional)', hint: dayHint, problems }, form.get('expires_at'), html`type="date"`)}
<p class="row"><button class="primary">Create the key</button> <a class="button" href="${view.link('keys')}">Cancel</a></p>
</form>`,
    problems.size > 0 ? 422 : 200,
  )
}
