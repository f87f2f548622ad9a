/** The flags of filters: each follows from the declaration of its field. */
import { Option } from 'commander'
import type { MemberFilter, MemberQuery } from '../../../../lib/index.ts'
import { moment } from '../moment.ts'
import { filterFlags } from './filter-flags.ts'

const fields = [...new Set(Object.values(filterFlags).flatMap((flags) => flags.map(({ field }) => field)))]

/** Of a flag that has other words in the command those count. */
const flagsOf = (kind: keyof typeof filterFlags) => [
  ...new Map([...filterFlags.members, ...filterFlags[kind]].map((flag) => [flag.field, flag])).values(),
]
const flagOf = (name: string): string => name.replaceAll('_', '-')
const camel = (name: string): string => name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase())

/** An option for each field, after those of `--state` and `--search`, which have words of their own. */
export const filterOptions = (kind: keyof typeof filterFlags): readonly Option[] => [
  new Option('--state <name>', 'only members in this state').choices(['active', 'removed', 'banned', 'deleted']),
  new Option('--search <text>', 'only members with these words in the name or address, or with this id'),
  ...flagsOf(kind).map(({ field, value, help, choices }) => {
    const flag = `--${flagOf(field)}`
    if (value === 'name') return new Option(`${flag} <name>`, help).choices(choices)
    if (value === 'id') return new Option(`${flag} <id>`, help)
    return moment(flag, `${help}, ISO 8601; a day begins in UTC`)
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
    fields.flatMap((name) => {
      const value: unknown = Reflect.get(flags, camel(name))
      return value === undefined ? [] : [[name, value]]
    }),
  ),
  ...(state === undefined ? {} : { state }),
  ...(search === undefined ? {} : { q: search }),
})

/** The flag of a field, if it is one of the filter's alone. */
export const filterFlagOf = (field: string): string | undefined =>
  field.includes('_') && fields.includes(field) ? flagOf(field) : undefined
