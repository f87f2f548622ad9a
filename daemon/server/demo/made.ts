/** The parts of every demo record: ids and times that are always the same. */

export const demoNetwork = { id: '1', subdomain: 'demo' } as const

const start = Date.UTC(2026, 0, 1, 9)
const day = 24 * 60 * 60 * 1000

/** A moment so many days after the demo network began, as a timestamp. */
export const at = (days: number): string => new Date(start + days * day).toISOString()

export const stamp = (id: number, days: number) => ({ id: String(id), created_at: at(days), updated_at: at(days) })

export const range = (length: number): number[] => Array.from({ length }, (_, place) => place)

/** The item at a place of a list that goes round. */
export const pick = <const T>(list: readonly [T, ...T[]], place: number): T => list[place % list.length] ?? list[0]

export const memberIds = range(60).map((place) => String(1001 + place))
export const ownerId = '1001'
export const spaceIds = range(6).map((place) => String(2001 + place))
export const tagFieldId = '3011'
export const badgeFieldId = '3012'
