/** Endpoints that are chat channels: Slack, Teams, Discord. Whoever knows the address of one can write into it. */
import type { StoredAttributes } from './endpoint-attributes.ts'
import type { Format } from './values.ts'

export type ChatFormat = Exclude<Format, 'standard'>

/**
 * Messages a second that each chat takes from one webhook; of Discord's limits the one of 30 a minute is the narrowest. Messages are
 * evenly spaced, so no window of any length has more.
 */
export const chatRates: Readonly<Record<ChatFormat, number>> = { slack: 1, teams: 4, discord: 0.5 }

/** The chat that a format is for; null for none. */
export const chatOf = (format: Format | null): ChatFormat | null => (format === 'standard' ? null : format)

/** Stands for the path of an address that is a secret. */
export const maskedPath = '/***'

/** An address as it may be shown: of a chat only the server. */
export const shownUrl = ({ url, format }: Pick<StoredAttributes, 'url' | 'format'>): string =>
  chatOf(format) === null ? url : `${new URL(url).origin}${maskedPath}`
