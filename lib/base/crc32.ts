/** CRC-32 (IEEE 802.3), as in gzip and PNG. Web standards have none. It is for short texts: of long ones a runtime's own takes far less time. */

/** How a byte changes the remainder. Made at the first use: a program that only loads the library needs none. */
let made: Uint32Array | undefined

const makeTable = (): Uint32Array =>
  Uint32Array.from({ length: 256 }, (_, byte) => {
    let remainder = byte
    for (let bit = 0; bit < 8; bit++) remainder = remainder & 1 ? (remainder >>> 1) ^ 0xedb88320 : remainder >>> 1
    return remainder
  })

/** The CRC-32 of some bytes, as an unsigned 32-bit number. */
export function crc32(bytes: Uint8Array): number {
  made ??= makeTable()
  let crc = 0xffffffff
  for (const byte of bytes) crc = (crc >>> 8) ^ (made[(crc ^ byte) & 0xff] ?? 0)
  return ~crc >>> 0
}
