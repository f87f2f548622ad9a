/** Every stage of a push, in the order of dependence: a record comes after those that it refers to. */
import type { Group } from '../../../../../lib/operation.ts'
import { emailKey } from '../../../../../lib/rules/members.ts'
import { invites } from '../../../../../lib/storage/tables/plans.ts'
import { textOf } from '../../given.ts'
import { groupsOf, type Needs, stagesFor } from '../../groups.ts'
import { given, type PushStage, pushStage } from '../push-stage.ts'
import { content } from './content.ts'
import { fields } from './fields.ts'
import { idInList, people } from './people.ts'

const allInvites = pushStage({
  name: 'invites',
  group: 'invites',
  table: invites,
  where: { plan_id: null, accepted_at: null },
  create: 'invites.create',
  reason: ({ recipient_email }) => (recipient_email === '' ? 'the e-mail address is not known' : undefined),
  body: (row, push) =>
    given({
      recipient_email: row.recipient_email,
      recipient_first_name: row.recipient_first_name,
      recipient_last_name: row.recipient_last_name,
      user_id: push.thereIf('members', row.sender_id),
    }),
  taken: ({ recipient_email }, push) =>
    idInList(
      push,
      'invites.list',
      {},
      { email: recipient_email },
      (invite) => emailKey(textOf(invite['recipient_email'])) === emailKey(recipient_email),
    ),
  follows: ['recipient_id', 'email_key', 'sender_id', 'plan_id', 'sent_at', 'accepted_at', 'open_key'],
})

export const stages: readonly PushStage[] = [...people, ...fields, ...content, allInvites]

/** The names for `--only`. */
export const groups: readonly Group[] = groupsOf(stages)

/** Groups that come only if they are named: the server sends a mail for each invite. */
const onRequest: readonly Group[] = ['invites']

/** The groups that records of a group refer to. */
const needs: Needs = {
  spaces: ['collections', 'members'],
  members: ['spaces'],
  options: ['custom_fields'],
  tags: ['members'],
  badges: ['members'],
  answers: ['members', 'options'],
  posts: ['spaces'],
  events: ['spaces'],
  rsvps: ['members', 'events'],
  courseworks: ['spaces'],
  comments: ['posts', 'events'],
  reactions: ['comments', 'members'],
  mute: ['posts', 'events', 'members'],
}

/** The stages of some groups, with those of the records that they refer to; by default those of all but `onRequest`. */
export function stagesOf(named?: readonly Group[]): readonly PushStage[] {
  return stagesFor(stages, needs, named ?? groups.filter((group) => !onRequest.includes(group)))
}
