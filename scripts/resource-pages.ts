/** The pages of the operations in `docs/operations/`: one for each resource, but for those of `apart`. */
import { type AnyOperation, groupOf, groups } from '../lib/operation.ts'

/** Operations of the members that have a page of their own, as a page of all of them would be too long. */
const apart: Readonly<Record<string, readonly [title: string, sentence: string]>> = {
  plan_members: ['Members of plans', 'Who can use a plan: list, add and show them.'],
  space_members: ['Members of spaces', 'People of a space: list, add, change, remove and ban them.'],
}

/** The page that an operation is on. */
export function pageOf(operation: Pick<AnyOperation, 'id' | 'scope'>): string {
  const [own = ''] = operation.id.split('.')
  return Object.hasOwn(apart, own) ? own : groupOf(operation)
}

/** What the operations of a page are about. */
export const sentenceOf = (page: string): string =>
  apart[page]?.[1] ?? Object.entries(groups).find(([name]) => name === page)?.[1] ?? ''

/** The name of a page, in words. */
export const titleOf = (page: string): string => {
  const words = apart[page]?.[0] ?? (page === 'rsvps' ? 'RSVPs' : page.replaceAll('_', ' '))
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}`
}
