/** The flags of filters: each follows from the declaration of its field. */
import { Option } from 'commander'
import { defaultTextLimits, descriptionOf } from '../../../lib/fields.ts'
import { exportFilterFields } from '../../../lib/host/export/export.ts'
import { memberFilterFields } from '../../../lib/host/member-search.ts'
import type { MemberFilter, MemberQuery } from '../../../lib/index.ts'
import { schemaWriter } from '../../../lib/openapi/schema.ts'
import { memberSort } from '../../../lib/rules/filters/members.ts'
import { momentOf } from './moment.ts'

// `--state` and `--search` have words of their own.
const { state: _state, q: _q, ...memberFields } = memberFilterFields
const { state: _otherState, q: _otherQ, ...exportFields } = exportFilterFields
const fieldsOf = { members: memberFields, list: { ...memberFields, sort: memberSort }, export: exportFields }
const allFields = { ...fieldsOf.export, ...fieldsOf.list }
const writer = schemaWriter({ ids: 'string', limits: defaultTextLimits })

const flagOf = (name: string): string => name.replaceAll('_', '-')
const camel = (name: string): string => name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase())

/** The first sentence, as help says it. */
function inHelp(description: unknown): string {
  const [sentence = ''] = String(description).split(/\.(?: |$)/)
  return sentence.charAt(0).toLowerCase() + sentence.slice(1)
}

/** An option for each field, after those of `--state` and `--search`. */
export const filterOptions = (kind: keyof typeof fieldsOf): readonly Option[] => [
  new Option('--state <name>', 'only members in this state').choices(['active', 'removed', 'banned', 'deleted']),
  new Option('--search <text>', 'only members with these words in the name or address, or with this id'),
  ...Object.entries(fieldsOf[kind]).map(([name, schema]) => {
    const { enum: choices, format } = writer.ofParameter(schema)
    const flag = `--${flagOf(name)}`
    const help = inHelp(descriptionOf(schema))
    if (Array.isArray(choices)) return new Option(`${flag} <name>`, help).choices(choices.map(String))
    if (format !== 'date-time') return new Option(`${flag} <id>`, help)
    return new Option(`${flag} <time>`, `${help}, ISO 8601; a day begins in UTC`).argParser((text) => momentOf(flag, text))
  }),
]

/** The flags that have words of their own. */
export interface FilterFlags {
  readonly state?: NonNullable<MemberFilter['state']>
  readonly search?: string
}

/** The fields that the flags give. The library checks them. */
export const filterOf = ({ state, search, ...flags }: FilterFlags & object): MemberQuery => ({
  ...Object.fromEntries(
    Object.keys(allFields).flatMap((name) => {
      const value: unknown = Reflect.get(flags, camel(name))
      return value === undefined ? [] : [[name, value]]
    }),
  ),
  ...(state === undefined ? {} : { state }),
  ...(search === undefined ? {} : { q: search }),
})

/** The flag of a field, if it is one of the filter's alone. */
export const filterFlagOf = (field: string): string | undefined =>
  field.includes('_') && Object.hasOwn(allFields, field) ? flagOf(field) : undefined
