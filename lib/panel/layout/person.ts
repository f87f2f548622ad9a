/** Members as pages of the panel show them. What the host masks is dots everywhere. */
import type { MemberListing } from '../../host/members/listing.ts'
import type { View } from '../route.ts'
import { type Html, html } from '../ui/html.ts'
import { badge, type Tone } from '../ui/parts.ts'

export const stateNames = { active: 'Active', removed: 'Removed', banned: 'Banned', deleted: 'Deleted' } as const
const tones: Readonly<Record<MemberListing['state'], Tone>> = { active: 'good', removed: 'calm', banned: 'bad', deleted: 'calm' }

const isMasked = ({ settings }: View, ...fields: readonly string[]): boolean => fields.some((name) => settings.masked.has(name))

export const masksNames = (view: View): boolean => isMasked(view, 'first_name', 'last_name')

/** An answer is in one of these fields. */
export const answerFields = [
  ...(['text', 'number', 'boolean_value', 'date', 'start_date', 'end_date', 'month', 'day', 'url', 'phone_number'] as const),
  ...(['latitude', 'longitude'] as const),
]

export const masksAnswers = (view: View): boolean => isMasked(view, ...answerFields, 'segments', 'locations')

/** A text of a person, which may be written from right to left; dots if its field is masked. */
export const personal = (view: View, name: string, text: string): Html =>
  text !== '' && isMasked(view, name) ? html`<span class="soft">•••</span>` : html`<bdi dir="auto">${text}</bdi>`

/** The name of a person, of whom an erased one has none. */
export function personName(view: View, { id, name }: { readonly id: string; readonly name: string }): Html {
  if (name === '') return html`member ${id}`
  return masksNames(view) ? html`•••` : html`<bdi dir="auto">${name}</bdi>`
}

export const nameIn = (view: View, { id, first_name, last_name }: Pick<MemberListing, 'id' | 'first_name' | 'last_name'>): Html =>
  personName(view, { id, name: `${first_name} ${last_name}`.trim() })

export const personLink = (view: View, person: { readonly id: string; readonly name: string }): Html =>
  html`<a href="${view.link(`members/${person.id}`)}">${personName(view, person)}</a>`

export const stateOf = ({ state, is_banned, erased_at }: MemberListing): Html =>
  html`${badge(tones[state], stateNames[state])}${is_banned && state !== 'banned' && html` ${badge('bad', 'Banned')}`}${
    erased_at !== null && html` ${badge('calm', 'Erased')}`
  }`
