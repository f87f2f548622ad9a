/** The only place in `lib` that draws ids and secrets. Everything else is given a source, so that tests can hold it. */
import { crc32 } from './crc32.ts'

/** A source of ids and secrets. */
export interface Chance {
  /** A whole number from 0, below `bound`, which is at most 2^32. It need not be hard to guess. */
  below(bound: number): number
  bytes(length: number): Uint8Array<ArrayBuffer>
  uuid(): string
}

/** The chance of the runtime. Its bytes and UUIDs cannot be guessed. */
export const systemChance: Chance = {
  below: (bound) => Math.floor(Math.random() * bound),
  bytes: (length) => crypto.getRandomValues(new Uint8Array(length)),
  uuid: () => crypto.randomUUID(),
}

/**
 * A chance that starts over with its seed: the same calls give the same values. Anyone can guess them, so it is for tests.
 * @param seed any text or number; equal ones give equal values
 */
export function seededChance(seed: string | number): Chance {
  const draw = numbers(crc32(new TextEncoder().encode(String(seed))))
  const below = (bound: number): number => Math.floor((draw() / 2 ** 32) * bound)
  const bytes = (length: number) => Uint8Array.from({ length }, () => below(256))
  const uuid = (): string => {
    const hex = [...bytes(16)].map((byte) => byte.toString(16).padStart(2, '0')).join('')
    // Version 4, variant 1, as every UUID of chance has it.
    const variant = '89ab'.charAt(below(4))
    return [hex.slice(0, 8), hex.slice(8, 12), `4${hex.slice(13, 16)}`, variant + hex.slice(17, 20), hex.slice(20)].join('-')
  }
  return { below, bytes, uuid }
}

/** Numbers of 32 bits: a counter whose bits are mixed (splitmix). */
function numbers(start: number): () => number {
  let counter = start
  return () => {
    counter = (counter + 0x9e3779b9) >>> 0
    let mixed = Math.imul(counter ^ (counter >>> 16), 0x85ebca6b)
    mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35)
    return (mixed ^ (mixed >>> 16)) >>> 0
  }
}
