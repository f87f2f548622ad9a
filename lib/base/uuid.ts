const hex = (value: number, digits: number): string => value.toString(16).padStart(digits, '0')

/**
 * A UUID of version 7 (RFC 9562, section 5.7): ids of later times sort behind.
 * @param milliseconds since 1970; below 2^48
 * @param random a UUID of version 4, from which all but the time is taken
 */
export function uuidAt(milliseconds: number, random: string): string {
  // In two parts: digits of a number beyond 31 bits cost several times as much.
  const time = `${hex(Math.floor(milliseconds / 0x10000), 8)}-${hex(milliseconds % 0x10000, 4)}`
  return `${time}-7${random.slice(15)}`
}
