/** The hosts that are reached without the proxy, in the form of the variable `NO_PROXY`. */
import { isIP } from 'node:net'
import { isAddressRange } from '../../lib/base/reach.ts'
import { inRanges } from './addresses.ts'

/** What one entry of the list names: every host, a range of addresses, or a name with its subdomains. */
type Named = 'all' | { readonly range: readonly string[] } | { readonly name: string }

interface Entry {
  readonly named: Named
  /** Missing: every port. */
  readonly port: number | undefined
}

const bare = (host: string): string => (host.startsWith('[') ? host.slice(1, -1) : host)
const inBrackets = /^\[([0-9a-f:.]+(?:\/\d+)?)\](\/\d+)?(?::(\d+))?$/
const withPort = /^([^:]+)(?::(\d+))?$/

/** A name as it is looked up: in ASCII, without a dot at its end. `undefined` for addresses in other forms than their usual one. */
function nameOf(text: string): string | undefined {
  const name = text.replace(/^\*?\./, '').replace(/\.$/, '')
  if (name === '' || /[/?#@[\]*\\%:<>]/.test(name)) return undefined
  const host = URL.parse(`http://${name}/`)?.hostname ?? ''
  return host === '' || isIP(host) !== 0 ? undefined : host
}

function entryOf(text: string): Entry | undefined {
  if (text === '*') return { named: 'all', port: undefined }
  if (isAddressRange(text)) return { named: { range: [text] }, port: undefined }
  const [, address, bits = '', portBehind] = inBrackets.exec(text) ?? []
  const [, host = '', portOf] = withPort.exec(text) ?? []
  const digits = portBehind ?? portOf
  const port = digits === undefined ? undefined : Number(digits)
  if (port !== undefined && (port < 1 || port > 65_535)) return undefined
  const range = address === undefined ? host : address + bits
  if (isAddressRange(range) && range.includes(':') === (address !== undefined)) return { named: { range: [range] }, port }
  const name = nameOf(host)
  return name === undefined ? undefined : { named: { name }, port }
}

const entriesOf = (list: string): readonly (Entry | undefined)[] =>
  list
    .toLowerCase()
    .split(/[\s,]+/)
    .filter((each) => each !== '')
    .map(entryOf)

/** What is wrong with a list, as the end of a sentence; `undefined` if nothing is. An entry is not repeated: it may be a secret. */
export function noProxyProblem(list: string): string | undefined {
  const place = entriesOf(list).indexOf(undefined)
  if (place === -1) return undefined
  const example = 'intern.example, 10.0.0.0/8 or [fd00::/8]:8443'
  return `has at place ${place + 1} no name, address or range, each with or without a port, such as ${example}`
}

let latest: { readonly list: string; readonly entries: readonly (Entry | undefined)[] } | undefined

/** Whether a list names a host. Called at each attempt: the list is taken apart once. */
export function isExcepted(list: string, host: string, port: number): boolean {
  if (latest?.list !== list) latest = { list, entries: entriesOf(list) }
  const name = bare(host).toLowerCase().replace(/\.$/, '')
  return latest.entries.some((entry) => {
    if (entry === undefined || (entry.port !== undefined && entry.port !== port)) return false
    const { named } = entry
    if (named === 'all') return true
    if ('range' in named) return inRanges(named.range, name)
    return name === named.name || (isIP(name) === 0 && name.endsWith(`.${named.name}`))
  })
}
