import type { Emitter } from '../operation.ts'
import type { PostRow } from '../storage/tables.ts'

const summaryLength = 280

/** The first words of a description, without its markup. */
export function summaryOf(description: string | null | undefined): string {
  const words = (description ?? '')
    .replace(/<[^<>]*>/g, ' ')
    .replace(/\s+/g, ' ')
    .trim()
  return words.length > summaryLength ? `${words.slice(0, summaryLength - 1).toWellFormed()}…` : words
}

/** Asks the host to tell the network's members about a post: it has the mailer. */
export function requestNotification(
  call: Pick<Emitter<'PostNotificationRequested'>, 'emit'>,
  { id, space_id, title, network_id }: PostRow,
): void {
  call.emit('PostNotificationRequested', { post_id: id, space_id, title, network_id })
}
