/** What is done to one member, each after a confirmation that shows its preview. */
import { isStorableId } from '../../../base/ids.ts'
import { ApiError, found } from '../../../errors.ts'
import type { MemberListing } from '../../../host/members/listing.ts'
import { confirmPage } from '../../layout/confirm.ts'
import { nameIn, personal } from '../../layout/person.ts'
import { may, type PanelAction } from '../../request/access.ts'
import type { ActingCalls } from '../../request/acting-user.ts'
import { type PanelResponse, seeOther } from '../../request/respond.ts'
import type { Route, View } from '../../route.ts'
import { type Html, html } from '../../ui/html.ts'
import { input, option } from '../../ui/parts.ts'

export const roles = ['host', 'moderator', 'contributor'] as const

export const reasonField: Html = input(
  { name: 'reason', label: 'Reason', hint: 'Only admins see it.' },
  '',
  html`type="text" dir="auto" maxlength="1000"`,
)

interface MemberAct {
  /** The last part of its path. */
  readonly verb: string
  readonly action: PanelAction
  readonly title: string
  readonly button: string
  readonly tone?: 'primary'
  /** The news on the page of the member. */
  readonly done: string
  /** Whether it can still be done. */
  isOpen(member: MemberListing): boolean
  text(view: View, member: MemberListing): unknown
  readonly fields?: Html
  work(calls: ActingCalls, view: View, id: string): Promise<unknown>
}

/** Whether plans and payments end is part of the address, so that the preview is of what the form does. */
const cancelsPlans = ({ query }: View, usual: boolean): boolean => (query.has('plans') ? query.get('plans') === 'end' : usual)

function plansText(view: View, verb: string, { id }: MemberListing, usual: boolean): Html {
  const ends = cancelsPlans(view, usual)
  const other = view.link(`members/${id}/${verb}`, { plans: ends ? 'stay' : 'end' })
  return html`<p>Subscriptions and purchases ${ends ? 'end' : 'stay as they are'}. <a href="${other}">${ends ? 'Let them stay' : 'End them'}</a></p>`
}

/** The role of the address. @throws ApiError 422 */
function roleIn({ query }: View): (typeof roles)[number] {
  const role = roles.find((each) => each === query.get('role'))
  if (role) return role
  throw new ApiError(422, { error: `role must be one of ${roles.join(', ')}.` })
}

const acts: readonly MemberAct[] = [
  {
    ...{ verb: 'role', action: 'members.role', title: 'Change the role?', button: 'Change the role', tone: 'primary' },
    done: 'The role is changed.',
    isOpen: ({ state }) => state === 'active',
    text: (view, { role }) => html`<dl><dt>Now</dt><dd>${role}</dd><dt>Then</dt><dd>${roleIn(view)}</dd></dl>`,
    work: ({ members }, view, id) => members.changeRole(view.id, id, roleIn(view)),
  },
  {
    ...{ verb: 'remove', action: 'members.remove', title: 'Remove this member?', button: 'Remove' },
    done: 'The member is removed. They may join again.',
    isOpen: ({ state }) => state === 'active',
    text: (view, member) =>
      html`<p>They leave the network and its spaces, and may join again.</p>${plansText(view, 'remove', member, false)}`,
    work: ({ members }, view, id) => members.remove(view.id, id, { cancel_plans: cancelsPlans(view, false) }),
  },
  {
    ...{ verb: 'ban', action: 'members.ban', title: 'Ban this member?', button: 'Ban' },
    done: 'The member is banned.',
    isOpen: ({ state, is_banned }) => !is_banned && (state === 'active' || state === 'removed'),
    text: (view, member) =>
      html`<p>They leave the network and its spaces, and can’t join again until the ban is lifted.</p>${plansText(view, 'ban', member, true)}`,
    fields: reasonField,
    work({ members }, view, id) {
      const reason = view.form.get('reason').trim()
      return members.ban(view.id, id, { cancel_plans: cancelsPlans(view, true), ...(reason === '' ? {} : { reason }) })
    },
  },
  {
    ...{ verb: 'unban', action: 'members.unban', title: 'Lift the ban?', button: 'Lift the ban', tone: 'primary' },
    done: 'The ban is lifted. The person may join again.',
    isOpen: ({ is_banned }) => is_banned,
    text: (view, { ban_reason }) =>
      html`${ban_reason !== null && html`<dl><dt>Reason</dt><dd>${personal(view, 'ban_reason', ban_reason)}</dd></dl>`}<p>The person may join again, or be invited. What they had bought does not come back by itself.</p>`,
    work: ({ members }, view, id) => members.unban(view.id, id),
  },
  {
    ...{ verb: 'erase', action: 'members.erase', title: 'Erase this person?', button: 'Erase for good' },
    done: 'The person is erased. Copies that receivers of webhooks hold are theirs to erase.',
    isOpen: ({ erased_at }) => erased_at === null,
    text: (_, { state, is_banned }) =>
      html`${state === 'active' && html`<p><strong>The member is active.</strong> The account is deleted first, and its subscriptions end.</p>`}
<p>Address, names, profile, answers, invites and uploads are erased. Posts, comments and receipts stay, without a name. This can’t be undone.</p>
${is_banned && html`<p>The address stays banned.</p>`}`,
    work: ({ members }, view, id) => members.erase(view.id, id),
  },
]

/** The news of an act, by the name in the address. */
export const memberNews = (verb: string): string | undefined =>
  verb === 'new' ? 'The member is added.' : acts.find((act) => act.verb === verb)?.done

const isOpenTo = (view: View, member: MemberListing) => (act: MemberAct) => may(view.visitor, act.action) && act.isOpen(member)

/** A link to each confirmation that the visitor may open. @param only these alone, for a row of a list */
export function memberLinks(view: View, member: MemberListing, only: readonly string[], kind: string): readonly Html[] {
  const open = acts.filter(({ verb }) => only.includes(verb)).filter(isOpenTo(view, member))
  return open.map(
    ({ verb, button, action }) =>
      html`<a class="${kind}" href="${view.link(`members/${member.id}/${verb}`)}" data-dialog>${action === 'members.erase' ? 'Erase' : button}<span class="sr"> ${nameIn(view, member)}</span></a> `,
  )
}

/** The form of the role and the links to the other acts. */
export function memberButtons(view: View, member: MemberListing): Html {
  const [role] = acts.filter(({ verb }) => verb === 'role').filter(isOpenTo(view, member))
  const choice =
    role &&
    html`<form method="get" action="${view.link(`members/${member.id}/role`)}" class="row"><select name="role" aria-label="Role">${roles.map((each) => option(each, each, member.role))}</select><button>Change the role</button></form>`
  return html`${choice}${memberLinks(view, member, ['remove', 'ban', 'unban', 'erase'], 'button')}`
}

/** @throws ApiError 404 */
async function memberOf({ community, id, params }: View): Promise<MemberListing> {
  const given = params['id'] ?? ''
  const { items } = isStorableId(given) ? await community.members.list(id, { q: given, limit: 1 }) : { items: [] }
  return found(
    items.find((member) => member.id === given),
    'Member',
  )
}

const routesOf = (act: MemberAct): readonly Route[] => {
  const { verb, action, title, button, tone = 'danger' } = act
  const path = `members/:id/${verb}`
  async function confirm(view: View): Promise<PanelResponse> {
    const member = await memberOf(view)
    const back = view.link(`members/${member.id}`)
    if (!act.isOpen(member)) return seeOther(back)
    const who = html`<dl><dt>Member</dt><dd>${nameIn(view, member)}</dd><dt>Address</dt><dd>${personal(view, 'email', member.email)}</dd><dt>Id</dt><dd>${member.id}</dd></dl>`
    const text = html`${who}${act.text(view, member)}`
    return confirmPage(view, { title, text, button, back, tone, fields: act.fields }, (calls) => act.work(calls, view, member.id))
  }
  async function change(view: View): Promise<PanelResponse> {
    const member = await memberOf(view)
    if (act.isOpen(member)) await act.work(view.acting, view, member.id)
    return seeOther(view.link(`members/${member.id}`, { done: verb }))
  }
  return [
    { method: 'GET', path, action, handle: confirm },
    { method: 'POST', path, action, handle: change },
  ]
}

export const memberActRoutes: readonly Route[] = acts.flatMap(routesOf)
