/** CRC-32 (IEEE 802.3), as in gzip and PNG. Web standards have none, so these lines do it. */
const remainders = new Uint32Array(256).map((_, byte) => {
  let remainder = byte
  for (let bit = 0; bit < 8; bit++) remainder = remainder & 1 ? (remainder >>> 1) ^ 0xedb88320 : remainder >>> 1
  return remainder
})

/** The CRC-32 of some bytes, as an unsigned 32-bit number. */
export function crc32(bytes: Uint8Array): number {
  let crc = 0xffffffff
  for (const byte of bytes) crc = (crc >>> 8) ^ (remainders[(crc ^ byte) & 0xff] ?? 0)
  return ~crc >>> 0
}
