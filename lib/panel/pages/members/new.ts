/** A member is added, or a person invited. */
import { pageOf } from '../../layout/layout.ts'
import { may, type PanelAction } from '../../request/access.ts'
import { type PanelResponse, seeOther } from '../../request/respond.ts'
import type { Route, View } from '../../route.ts'
import { type Html, html } from '../../ui/html.ts'
import { check, input, noProblems, type Problems, problemsOf, select, summary } from '../../ui/parts.ts'
import { roles } from './acts.ts'

interface Entry {
  /** The last part of its path. */
  readonly verb: string
  readonly action: PanelAction
  readonly title: string
  readonly button: string
  readonly fields: readonly (readonly [name: string, label: string])[]
  /** Fields besides those for texts. */
  more?(view: View): Html
  /** @returns the page behind it */
  save(view: View): Promise<string>
}

const entries: readonly Entry[] = [
  {
    ...{ verb: 'new', action: 'members.add', title: 'Add a member', button: 'Add the member' },
    fields: [
      ['email', 'Address'],
      ['first_name', 'First name'],
      ['last_name', 'Last name'],
    ],
    more: ({ form }) =>
      html`${select(
        { name: 'role', label: 'Role' },
        roles.map((role) => [role, role]),
        form.get('role') || 'contributor',
      )}
<p>${check('checkbox', 'send_welcome_email', '1', 'Send a welcome mail', form.has('send_welcome_email'))}</p>`,
    async save({ acting, form, id: network, link }) {
      const names = { email: form.get('email').trim(), first_name: form.get('first_name'), last_name: form.get('last_name') }
      // Another role is refused by the operation.
      const role = roles.find((each) => each === form.get('role')) ?? 'contributor'
      const body = { ...names, role, send_welcome_email: form.has('send_welcome_email') }
      const member = await acting.call('members.create', { network, body })
      const name = `${member.first_name} ${member.last_name}`.trim()
      await acting.audit.record({
        network,
        action: 'member.added',
        subject: { type: 'member', id: String(member.id), name },
        details: { role },
      })
      return link(`members/${member.id}`, { done: 'new' })
    },
  },
  {
    ...{ verb: 'invite', action: 'members.invite', title: 'Invite a person', button: 'Invite' },
    fields: [
      ['recipient_email', 'Address'],
      ['recipient_first_name', 'First name'],
      ['recipient_last_name', 'Last name'],
    ],
    async save({ acting, form, id: network, link }) {
      const text = (name: string) => form.get(name).trim()
      const names = { recipient_first_name: text('recipient_first_name'), recipient_last_name: text('recipient_last_name') }
      const body = { recipient_email: text('recipient_email'), ...names }
      const invite = await acting.call('invites.create', { network, body })
      // Without the address, which an erasure would not find here.
      await acting.audit.record({
        network,
        action: 'member.invited',
        subject: { type: 'network', id: network },
        details: { invite_id: invite.id },
      })
      return link('members', { done: 'invited' })
    },
  },
]

/** Links to the forms that the visitor may open. */
export const memberEntryLinks = (view: View): readonly Html[] =>
  entries
    .filter(({ action }) => may(view.visitor, action))
    .map(({ verb, title }) => html`<a class="button" href="${view.link(`members/${verb}`)}">${title}</a>`)

function entryForm(view: View, { title, button, fields, more }: Entry, problems: Problems): Promise<PanelResponse> {
  const inputs = fields.map(([name, label]) =>
    input({ name, label, problems }, view.form.get(name), html`type="text" dir="auto"`),
  )
  return pageOf(
    view,
    title,
    html`<h1>${title}</h1>${summary(problems)}<form method="post">${inputs}${more?.(view)}
<p class="row"><button class="primary">${button}</button> <a class="button" href="${view.link('members')}">Cancel</a></p></form>`,
    problems.size > 0 ? 422 : 200,
  )
}

export const memberEntryRoutes: readonly Route[] = entries.flatMap((entry): readonly Route[] => {
  const { action, fields } = entry
  const path = `members/${entry.verb}`
  async function save(view: View): Promise<PanelResponse> {
    try {
      return seeOther(await entry.save(view))
    } catch (error) {
      const problems = problemsOf(
        error,
        fields.map(([name]) => name),
      )
      return entryForm(view, entry, problems)
    }
  }
  return [
    { method: 'GET', path, action, handle: (view) => entryForm(view, entry, noProblems) },
    { method: 'POST', path, action, handle: save },
  ]
})
