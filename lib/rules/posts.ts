import type { Emitter } from '../call.ts'
import type { Context } from '../context.ts'
import type { Id } from '../storage/table.ts'
import { mutes, type PostRow } from '../storage/tables/content.ts'
import { textOfHtml } from './html.ts'

const summaryLength = 280

/** The first words of a description as text. */
export function summaryOf(description: string | null | undefined): string {
  const text = description ?? ''
  // Most are plain text, of which the first words are enough.
  const begin = text.slice(0, summaryLength + 40)
  const words = /[<&]/.test(begin) ? '' : inOneLine(begin)
  return shortened(words.length > summaryLength ? words : inOneLine(textOfHtml(text)))
}

const inOneLine = (text: string): string => text.replace(/\s\s+|[^\S ]/g, ' ').trim()

/** Cut at the limit, without half of a character. */
const shortened = (words: string): string =>
  words.length > summaryLength ? `${words.slice(0, summaryLength - 1).replace(/[\ud800-\udbff]$/, '')}…` : words

/** What a new post of any family has beside its own columns. */
export const newPost = (call: Context, space_id: Id, description: string | null | undefined) => ({
  ...call.stamp(),
  space_id,
  creator_id: call.principal.member_id,
  summary: summaryOf(description),
  content_type: 'text',
  published_at: call.now,
  last_activity_at: call.now,
})

/**
 * Has the host notify the network's members of a post: it has the mailer.
 * @param muted_member_ids the members to leave out; empty for a new post
 */
export function requestNotification(
  call: Pick<Emitter<'PostNotificationRequested'>, 'emit'>,
  { id, space_id, title, network_id }: PostRow,
  muted_member_ids: Id[] = [],
): void {
  call.emit('PostNotificationRequested', { post_id: id, space_id, title, muted_member_ids, network_id })
}

/** The members who have switched off the notifications of a post. */
export async function mutedBy({ tx }: Pick<Context, 'tx'>, post: PostRow): Promise<Id[]> {
  const order = { by: 'member_id', direction: 'asc' } as const
  return (await tx.find(mutes, { where: { post_id: post.id }, order })).map((mute) => mute.member_id)
}
