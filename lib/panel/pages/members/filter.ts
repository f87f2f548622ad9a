/** The filter of members: in the address, so that a link can be shared. Its fields follow from the declaration of each filter. */
import { defaultTextLimits } from '../../../fields.ts'
import { memberFilterFields } from '../../../host/members/search.ts'
import { schemaWriter } from '../../../openapi/schema.ts'
import { memberSort } from '../../../rules/filters/members.ts'
import type { View } from '../../route.ts'
import { type Html, html } from '../../ui/html.ts'
import { capital, field, input, moment, type Problems, select } from '../../ui/parts.ts'
import { momentOf } from '../audit.ts'

const fields = { ...memberFilterFields, sort: memberSort }
const writer = schemaWriter({ ids: 'string', limits: defaultTextLimits })

interface FilterField {
  readonly name: string
  readonly label: string
  readonly kind: 'choice' | 'moment' | 'id'
  readonly choices: readonly string[]
}

const wordsOf = (name: string): string =>
  capital(
    name
      .replace(/_(?:id|at)$/, '')
      .replace(/^created/, 'joined')
      .replaceAll('_', ' '),
  )

/** The state is chosen by links, and the words of a search have a field of their own. */
const formFields: readonly FilterField[] = Object.entries(fields).flatMap(([name, schema]) => {
  if (name === 'state' || name === 'q') return []
  const { enum: choices, format } = writer.ofParameter(schema)
  const kind = Array.isArray(choices) ? 'choice' : format === 'date-time' ? 'moment' : 'id'
  return [{ name, kind, label: wordsOf(name), choices: Array.isArray(choices) ? choices.map(String) : [] }]
})

/** The names that can stand in the address. */
export const memberFilterNames: readonly string[] = Object.keys(fields)

/** A filter as the address has it. */
export type MemberFilterQuery = Readonly<Record<string, string>>

/** Of a value that is given twice both are kept, so that it is refused and never ignored. */
export const memberFilterIn = ({ query }: Pick<View, 'query'>): MemberFilterQuery =>
  Object.fromEntries(
    memberFilterNames.flatMap((name) => {
      const given = query.all(name).join().trim()
      return given === '' ? [] : [[name, given]]
    }),
  )

/** The same for the call, which checks it. */
export const memberQueryOf = (given: MemberFilterQuery): object =>
  Object.fromEntries(
    Object.entries(given).map(([name, value]) => [
      name,
      formFields.some((each) => each.name === name && each.kind === 'moment') ? momentOf(value) : value,
    ]),
  )

type Names = ReadonlyMap<string, string>

/** At most so many names are offered; of more than that an id is given. */
export const mostNames = 100

/** The names of what members are filtered by. */
export async function namesOf({ community, id: network }: View): Promise<ReadonlyMap<string, Names>> {
  const query = { per_page: mostNames }
  const [tags, badges, plans, spaces] = await Promise.all([
    community.tags.list(network, { limit: mostNames }),
    community.tags.list(network, { kind: 'badge', limit: mostNames }),
    community.call('plans.list', { network, query }),
    community.call('spaces.list', { network, query }),
  ])
  return new Map([
    ['tag_id', new Map(tags.items.map(({ id, title }) => [id, title]))],
    ['badge_id', new Map(badges.items.map(({ id, title }) => [id, title]))],
    ['plan_id', new Map(plans.items.map(({ id, name }) => [String(id), name]))],
    ['space_id', new Map(spaces.items.map(({ id, name }) => [String(id), name]))],
  ])
}

const sortWords = (name: string): string => `${wordsOf(name.replace('-', ''))}${name.startsWith('-') ? ', descending' : ''}`

export async function memberFilterForm(view: View, filter: MemberFilterQuery, problems: Problems): Promise<Html> {
  const names = await namesOf(view)
  const value = (name: string) => filter[name] ?? ''
  const choose = ({ name, label }: FilterField, options: readonly (readonly [string, string])[]) =>
    select({ name, label, problems }, [['', name === 'sort' ? 'Newest first' : 'any'], ...options], value(name))
  const control = (each: FilterField) => {
    const { name, label, kind, choices } = each
    if (kind === 'choice')
      return choose(
        each,
        choices.map((choice) => [choice, name === 'sort' ? sortWords(choice) : choice]),
      )
    if (kind === 'moment') return moment({ name, label, problems }, value(name))
    const known = names.get(name)
    if (known && known.size < mostNames && (value(name) === '' || known.has(value(name)))) return choose(each, [...known])
    return input({ name, label: `${label} (id)`, problems }, value(name))
  }
  const set = formFields.filter(({ name }) => value(name) !== '').length
  const state = value('state')
  const search = field(
    { name: 'q', label: 'Name, address or id', problems },
    (attributes) =>
      html`<div class="row"><input ${attributes} type="search" dir="auto" maxlength="200" value="${value('q')}" autocomplete="off"><button>Search</button></div>`,
  )
  const clear =
    (set > 0 || value('q') !== '') &&
    html`<a class="button" href="${view.link('members', state === '' ? {} : { state })}">Clear</a>`
  return html`<form method="get" action="${view.link('members')}" role="search">${state !== '' && html`<input type="hidden" name="state" value="${state}">`}${search}
<details class="card" ${set > 0 && html`open`}><summary>Filter and order${set > 0 && html` <span class="badge">${set} set</span>`}</summary>
<div class="filter">${formFields.map(control)}<p class="row"><button class="primary">Apply</button>${clear}</p></div></details></form>`
}
