/** Tar files, as far as a backup needs them: the `tar` of every system lists and unpacks one. */
import type { FileHandle } from 'node:fs/promises'
import { StorageError } from '../../../lib/storage/contract.ts'

export interface TarEntry {
  readonly name: string
  readonly size: number
  readonly start: number
}

const block = 512
/** Bytes that are read at once. */
const pieceBytes = 1024 * 1024
/** The largest size in octal digits; a larger one is binary. */
const mostOctal = 8 ** 11 - 1

/** The zeros after a content of this size. */
export const paddingOf = (size: number): Buffer => Buffer.alloc((block - (size % block)) % block)

export const tarEnd = Buffer.alloc(2 * block)

const sumOf = (header: Buffer): number => header.fill(' ', 148, 156).reduce((sum, byte) => sum + byte, 0)
const octal = (value: number, digits: number): string => value.toString(8).padStart(digits, '0')

/** @param name at most 100 bytes */
export function tarHeader(name: string, size: number, at: number): Buffer {
  const header = Buffer.alloc(block)
  header.write(name, 0)
  header.write(['0000600', '0000000', '0000000', octal(Math.min(size, mostOctal), 11)].join('\0'), 100)
  header.write(octal(Math.floor(at / 1000), 11), 136)
  header.write('0', 156)
  header.write('ustar\x0000', 257)
  if (size > mostOctal) {
    header.writeUInt32BE(0x80000000, 124)
    header.writeBigUInt64BE(BigInt(size), 128)
  }
  header.write(`${octal(sumOf(header), 6)}\0 `, 148)
  return header
}

/** The entries of a tar file, up to its end. @throws StorageError `damaged` */
export async function* tarEntries(file: FileHandle, path: string): AsyncGenerator<TarEntry> {
  for (let at = 0; ; ) {
    const header = Buffer.alloc(block)
    const { bytesRead } = await file.read(header, 0, block, at)
    if (bytesRead < block) throw damagedBackup(path, 'it ends too soon')
    if (header.every((byte) => byte === 0)) return
    const text = (from: number, to: number) => header.toString('utf8', from, to).replace(/\0.*$/s, '')
    const [name, digits, sum] = [text(0, 100), text(124, 136), Number.parseInt(text(148, 156), 8)]
    const size = header[124] === 0x80 ? Number(header.readBigUInt64BE(128)) : Number.parseInt(digits, 8)
    if (sumOf(header) !== sum || !Number.isSafeInteger(size)) throw damagedBackup(path, `byte ${at} begins no part of one`)
    yield { name, size, start: at + block }
    at += block + size + paddingOf(size).length
  }
}

export async function* bytesOf(file: FileHandle, size: number, start = 0): AsyncGenerator<Buffer> {
  for (let at = start; at < start + size; ) {
    const piece = Buffer.allocUnsafe(Math.min(pieceBytes, start + size - at))
    const { bytesRead } = await file.read(piece, 0, piece.length, at)
    if (bytesRead === 0) return
    yield piece.subarray(0, bytesRead)
    at += bytesRead
  }
}

export const damagedBackup = (path: string, reason: string): StorageError =>
  new StorageError('damaged', `${path} is no whole backup: ${reason}. Nothing was restored`)
