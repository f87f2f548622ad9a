/**
 * Which addresses of the internet are public, and which an operator allows besides. Everything else is refused. So is every
 * address that hides another one inside: v4-mapped, v4-compatible, 6to4 and Teredo. One of NAT64 is as public as the IPv4 address
 * inside: machines without IPv4 reach every receiver of IPv4 by it.
 */
import { BlockList, isIP } from 'node:net'
import { insideNat64, special4, special6 } from '../../lib/base/reach.ts'

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
  const inside = insideNat64(URL.parse(`http://[${address}]/`)?.hostname.slice(1, -1) ?? '')
  if (inside !== undefined) return isPublicAddress(inside)
  return public6.check(address, 'ipv6') && !blocked6.check(address, 'ipv6')
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
