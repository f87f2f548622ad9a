/**
 * CRC-32 (IEEE 802.3), as in gzip and PNG. Web standards have no CRC-32. It processes eight bytes at a step: one at a step
 * takes several times as long.
 */

/** Eight tables of 256 in a row: how a byte changes the remainder when none, one, … seven bytes follow it. */
function makeTables(): Uint32Array {
  const tables = new Uint32Array(8 * 256)
  for (let byte = 0; byte < 256; byte++) {
    let remainder = byte
    for (let bit = 0; bit < 8; bit++) remainder = remainder & 1 ? (remainder >>> 1) ^ 0xedb88320 : remainder >>> 1
    tables[byte] = remainder
  }
  for (let index = 256; index < tables.length; index++) {
    const before = tables[index - 256] ?? 0
    tables[index] = (before >>> 8) ^ (tables[before & 0xff] ?? 0)
  }
  return tables
}

/** Made at the first use: a program that only loads the library needs none. */
let made: Uint32Array | undefined

/** The CRC-32 of some bytes, as an unsigned 32-bit number. */
export function crc32(bytes: Uint8Array): number {
  made ??= makeTables()
  const tables = made
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const eights = bytes.length - (bytes.length % 8)
  let crc = 0xffffffff
  for (let at = 0; at < eights; at += 8) {
    const low = crc ^ view.getUint32(at, true)
    const high = view.getUint32(at + 4, true)
    crc =
      (tables[0x700 + (low & 0xff)] ?? 0) ^
      (tables[0x600 + ((low >>> 8) & 0xff)] ?? 0) ^
      (tables[0x500 + ((low >>> 16) & 0xff)] ?? 0) ^
      (tables[0x400 + (low >>> 24)] ?? 0) ^
      (tables[0x300 + (high & 0xff)] ?? 0) ^
      (tables[0x200 + ((high >>> 8) & 0xff)] ?? 0) ^
      (tables[0x100 + ((high >>> 16) & 0xff)] ?? 0) ^
      (tables[high >>> 24] ?? 0)
  }
  for (let at = eights; at < bytes.length; at++) crc = (crc >>> 8) ^ (tables[(crc ^ (bytes[at] ?? 0)) & 0xff] ?? 0)
  return ~crc >>> 0
}
