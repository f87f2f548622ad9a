/**
 * Which addresses of the internet are public, and which an operator allows besides. Everything else is refused. So is every
 * address that hides another one inside: v4-mapped, v4-compatible, NAT64, 6to4 and Teredo.
 */
import { BlockList, isIP } from 'node:net'

/** IANA's special-purpose registries: what is not globally reachable. */
const special4 = [
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
const special6 = [
  '2001::/23', // protocol assignments: Teredo, benchmarks, ORCHID
  '2001:db8::/32', // documentation
  '2002::/16', // 6to4
  '2620:4f:8000::/48', // AS112
  '3fff::/20', // documentation
]

const bitsOf = (family: number): number => (family === 4 ? 32 : 128)

function list(networks: readonly string[], family: 'ipv4' | 'ipv6'): BlockList {
  const found = new BlockList()
  for (const network of networks) {
    const [address = '', prefix = bitsOf(isIP(network))] = network.split('/')
    found.addSubnet(address, Number(prefix), family)
  }
  return found
}

const blocked4 = list(special4, 'ipv4')
const blocked6 = list(special6, 'ipv6')
const public6 = list(['2000::/3'], 'ipv6')

/**
 * Whether an address is one that a stranger on the internet could reach.
 * @param address as `inet_ntop` writes it; anything else is not public
 */
export function isPublicAddress(address: string): boolean {
  const family = isIP(address)
  if (family === 4) return !blocked4.check(address, 'ipv4')
  if (family !== 6 || address.includes('%')) return false
  return public6.check(address, 'ipv6') && !blocked6.check(address, 'ipv6')
}

/** A single address or a range: `10.0.3.5`, `10.0.3.0/24`, `fd12:3456::/32`. */
export function isAddressRange(text: string): boolean {
  const [address = '', prefix, ...rest] = text.split('/')
  const family = isIP(address)
  if (family === 0 || address.includes('%') || rest.length > 0) return false
  return prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= bitsOf(family))
}

/**
 * Whether an address is in one of the ranges. An IPv6 address with an IPv4 address inside is in a range of IPv6 alone.
 * @param ranges each as `isAddressRange` takes it
 */
export function inRanges(ranges: readonly string[], address: string): boolean {
  const family = isIP(address)
  if (family === 0 || ranges.length === 0 || address.includes('%')) return false
  const { ipv4, ipv6 } = listsOf(ranges)
  return family === 4 ? ipv4.check(address, 'ipv4') : ipv6.check(address, 'ipv6')
}

const known = new WeakMap<readonly string[], { readonly ipv4: BlockList; readonly ipv6: BlockList }>()

function listsOf(ranges: readonly string[]) {
  const lists = known.get(ranges) ?? {
    ipv4: list(
      ranges.filter((range) => !range.includes(':')),
      'ipv4',
    ),
    ipv6: list(
      ranges.filter((range) => range.includes(':')),
      'ipv6',
    ),
  }
  known.set(ranges, lists)
  return lists
}
