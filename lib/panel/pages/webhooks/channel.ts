/** The form that adds a chat channel: an endpoint that gets a sentence for each event. */
import { plainSentence, sentenceOf } from '../../../events/sentences.ts'
import type { ChatFormat } from '../../../outbox/chat.ts'
import { pageOf } from '../../layout/layout.ts'
import { type Form, formOf } from '../../request/form.ts'
import { type PanelResponse, seeOther } from '../../request/respond.ts'
import type { Route, View } from '../../route.ts'
import { type Html, html } from '../../ui/html.ts'
import { capital, check, group, input, noProblems, type Problems, problemsOf, select, summary } from '../../ui/parts.ts'
import { eventGroups, noticeNames, wordsOf } from './events.ts'

const chats: Readonly<Record<ChatFormat, string>> = { slack: 'Slack', teams: 'Microsoft Teams', discord: 'Discord' }

/** What people of a team want to know of, and not so often that nobody reads it. */
const usual = [
  ...['MemberJoined', 'MemberJoinRequested', 'MemberLeft', 'PostCreated', 'EventCreated', 'ReportedContentCreated'],
  ...['EndpointDisabled', 'DeliveryExhausted'],
]

const usualForm = (): Form => formOf(new URLSearchParams(usual.map((name): [string, string] => ['events', name])))

function channelForm(view: View, form: Form, problems: Problems): Promise<PanelResponse> {
  const chosen = new Set(form.all('events'))
  const choice = (name: string) => check('checkbox', 'events', name, capital(wordsOf(name)), chosen.has(name))
  const rest = [...eventGroups(), ['Failing endpoints', noticeNames] as const].map(([label, names]) => {
    const others = names.filter((name) => !usual.includes(name))
    return (
      others.length > 0 &&
      html`<section><h2>${label}</h2><div class="columns">${others.map((name) => html`<div>${choice(name)}</div>`)}</div></section>`
    )
  })
  const isOpen = [...chosen].some((name) => !usual.includes(name))
  const member = { first_name: 'Grace', last_name: 'Oak' }
  const line = (name: string, label: string, hint: string, more: Html) =>
    input({ name, label, hint, problems }, form.get(name), html`${more} spellcheck="false"`)
  return pageOf(
    view,
    'Notify a channel',
    html`<h1>Notify a channel</h1>${summary(problems)}
<p class="soft">A channel gets one sentence for each event, such as <em>${plainSentence(sentenceOf('MemberJoined', { member }))}</em>.</p>
<form method="post">
${select({ name: 'format', label: 'Chat', problems }, Object.entries(chats), form.get('format'))}
${line('url', 'Webhook URL', 'The chat makes it for a channel: as an incoming webhook, or in Teams as a workflow. It is a secret, and not shown again.', html`type="url" required`)}
${line('name', 'Name', 'Such as the name of the channel. Empty for none.', html`type="text" maxlength="255"`)}
${group(
  { name: 'events', label: 'Events', problems },
  html`<div class="columns">${usual.map((name) => html`<div>${choice(name)}</div>`)}</div>
<details ${isOpen && html`open`}><summary>More events</summary>${rest}</details>`,
)}
<p class="row"><button class="primary">Add the channel</button> <a class="button" href="${view.link('webhooks')}">Cancel</a></p></form>`,
    problems.size > 0 ? 422 : 200,
  )
}

async function add(view: View): Promise<PanelResponse> {
  const { form, acting, id } = view
  const given = { url: form.get('url').trim(), name: form.get('name').trim() || null, events: form.all('events') }
  const format = (Object.keys(chats) as ChatFormat[]).find((each) => each === form.get('format')) ?? 'slack'
  if (given.events.length === 0) return channelForm(view, form, new Map([['events', 'choose at least one event']]))
  try {
    const made = await acting.endpoints.upsert({ network: id, format, ...given })
    return seeOther(view.link(`webhooks/${made.id}`, { done: 'channel' }))
  } catch (error) {
    return channelForm(view, form, problemsOf(error, ['format', 'url', 'name', 'events']))
  }
}

export const webhookChannelRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: 'webhooks/channel',
    action: 'endpoints.create',
    handle: (view) => channelForm(view, usualForm(), noProblems),
  },
  { method: 'POST', path: 'webhooks/channel', action: 'endpoints.create', handle: add },
]
