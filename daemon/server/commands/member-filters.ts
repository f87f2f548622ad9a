/** The flags of a filter of members: each follows from the declaration of its field. */
import { Option } from 'commander'
import { defaultTextLimits, descriptionOf } from '../../../lib/fields.ts'
import { memberFilterFields } from '../../../lib/host/member-search.ts'
import type { MemberQuery } from '../../../lib/index.ts'
import { schemaWriter } from '../../../lib/openapi/schema.ts'
import { memberSort } from '../../../lib/rules/filters/members.ts'
import { momentOf } from './moment.ts'

// `--state` and `--search` have words of their own.
const { state: _state, q: _q, ...filters } = memberFilterFields
const fields = { ...filters, sort: memberSort }
const writer = schemaWriter({ ids: 'string', limits: defaultTextLimits })

const flagOf = (name: string): string => name.replaceAll('_', '-')
const camel = (name: string): string => name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase())

/** The first sentence, as help says it. */
function inHelp(description: unknown): string {
  const [sentence = ''] = String(description).split(/\.(?: |$)/)
  return sentence.charAt(0).toLowerCase() + sentence.slice(1)
}

/** An option for each field. */
export const filterOptions = (): readonly Option[] =>
  Object.entries(fields).map(([name, schema]) => {
    const { enum: choices, format } = writer.ofParameter(schema)
    const flag = `--${flagOf(name)}`
    const help = inHelp(descriptionOf(schema))
    if (Array.isArray(choices)) return new Option(`${flag} <name>`, help).choices(choices.map(String))
    if (format !== 'date-time') return new Option(`${flag} <id>`, help)
    return new Option(`${flag} <time>`, `${help}, ISO 8601; a day begins in UTC`).argParser((text) => momentOf(flag, text))
  })

/** The fields that the flags give. The library checks them. */
export const filterOf = (flags: object): MemberQuery =>
  Object.fromEntries(
    Object.keys(fields).flatMap((name) => {
      const value: unknown = Reflect.get(flags, camel(name))
      return value === undefined ? [] : [[name, value]]
    }),
  )

/** The flag of a field, if it is one of the filter's alone. */
export const filterFlagOf = (field: string): string | undefined =>
  field.includes('_') && Object.hasOwn(fields, field) ? flagOf(field) : undefined
