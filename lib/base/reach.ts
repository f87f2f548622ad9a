/** Which addresses relays refuse by default, for people who register them. What a relay may send to is decided by its settings. */

/** IANA's special-purpose registries: what is not globally reachable. */
export const special4 = [
  '0.0.0.0/8', // this network
  '10.0.0.0/8', // private
  '100.64.0.0/10', // carrier-grade NAT; some clouds' metadata
  '127.0.0.0/8', // loopback
  '169.254.0.0/16', // link-local; the metadata of most clouds
  '172.16.0.0/12', // private
  '192.0.0.0/24', // protocol assignments
  '192.0.2.0/24', // documentation
  '192.31.196.0/24', // AS112
  '192.52.193.0/24', // AMT
  '192.88.99.0/24', // 6to4 relays
  '192.168.0.0/16', // private
  '192.175.48.0/24', // AS112
  '198.18.0.0/15', // benchmarks
  '198.51.100.0/24', // documentation
  '203.0.113.0/24', // documentation
  '224.0.0.0/4', // multicast
  '240.0.0.0/4', // reserved, and broadcast
  '168.63.129.16/32', // a cloud's own channel to its machines, public by number only
]

/** Within 2000::/3, the only part of IPv6 in public use. */
export const special6 = [
  '2001::/23', // protocol assignments: Teredo, benchmarks, ORCHID
  '2001:db8::/32', // documentation
  '2002::/16', // 6to4
  '2620:4f:8000::/48', // AS112
  '3fff::/20', // documentation
]

/** The value of an address in its shortest form, as URLs have it. */
function numberOf(address: string): bigint {
  if (!address.includes(':')) return address.split('.').reduce((value, part) => value * 256n + BigInt(part), 0n)
  const [left = [], right = []] = address.split('::').map((half) => half.split(':').filter((part) => part !== ''))
  const zeros = Array.from({ length: 8 - left.length - right.length }, () => '0')
  return [...left, ...zeros, ...right].reduce((value, part) => value * 65_536n + BigInt(`0x${part}`), 0n)
}

function isWithin(address: string, range: string, bits: number): boolean {
  const [from = '', prefix] = range.split('/')
  const rest = BigInt(bits - Number(prefix))
  return numberOf(address) >> rest === numberOf(from) >> rest
}

/** How machines without IPv4 reach it: NAT64 translates these addresses (RFC 6052). */
const nat64 = '64:ff9b::/96'

/**
 * The IPv4 address that stands in one of NAT64; `undefined` for every other address.
 * @param address as URLs have it, without brackets
 */
export function insideNat64(address: string): string | undefined {
  if (!address.includes(':') || !isWithin(address, nat64, 128)) return undefined
  const value = numberOf(address)
  return [24n, 16n, 8n, 0n].map((bits) => (value >> bits) & 0xffn).join('.')
}

const isPublic4 = (address: string): boolean => !special4.some((range) => isWithin(address, range, 32))

/** Whether a host of a URL is an address that a stranger on the internet could reach. The parser of URLs has decoded it. */
function isPublic(host: string): boolean {
  if (!host.startsWith('[')) return isPublic4(host)
  const address = host.slice(1, -1)
  const inside = insideNat64(address)
  if (inside !== undefined) return isPublic4(inside)
  return isWithin(address, '2000::/3', 128) && !special6.some((range) => isWithin(address, range, 128))
}

/** A name of this machine, whatever the resolver says. */
export const isLoopbackName = (host: string): boolean => /(^|\.)localhost\.?$/i.test(host)

const isAddress = (host: string): boolean => host.startsWith('[') || /^\d+(\.\d+){3}$/.test(host)

/**
 * Why a relay with its default settings refuses an address, with the setting that allows it.
 * @returns `undefined` if it does not; names are looked up only when something is sent
 */
export function refusedByDefault(text: string): string | undefined {
  const url = URL.parse(text)
  if (!url) return undefined
  const problems: string[] = []
  const host = url.hostname
  if (url.protocol === 'http:') problems.push('it is not https (setting `allowHttp`)')
  const port = Number(url.port || (url.protocol === 'http:' ? 80 : 443))
  if (port <= 1024 && port !== 443 && !(port === 80 && url.protocol === 'http:'))
    problems.push(`port ${port} is not allowed (setting \`ports\`)`)
  if (isLoopbackName(host)) problems.push(`${host} is this machine (setting \`allowPrivate\`)`)
  else if (isAddress(host) && !isPublic(host))
    problems.push(`${host} is not a public address (setting \`allowAddresses\` or \`allowPrivate\`)`)
  return problems.length === 0 ? undefined : problems.join(', and ')
}

const octet = '(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)'
const address4 = new RegExp(`^(?:${octet}\\.){3}${octet}$`)
const isAddress6 = (text: string): boolean =>
  text.includes(':') && /^[0-9a-f:.]{2,45}$/i.test(text) && URL.parse(`http://[${text}]/`) !== null

/** A single address or a range: `10.0.3.5`, `10.0.3.0/24`, `fd12:3456::/32`. */
export function isAddressRange(text: string): boolean {
  const [address = '', prefix, ...rest] = text.split('/')
  const bits = address4.test(address) ? 32 : isAddress6(address) ? 128 : 0
  if (bits === 0 || rest.length > 0) return false
  return prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= bits)
}
