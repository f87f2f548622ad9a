/** API tokens: `fmt_`, 43 characters of base62 for 32 random bytes, and 6 of a checksum. Only their SHA-256 is stored. */

import { type Chance, systemChance } from './chance.ts'
import { crc32 } from './crc32.ts'
import { sha256 } from './sha256.ts'

const prefix = 'fmt_'
const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const bodyLength = 43
const checksumLength = 6
const pattern = /^fmt_[0-9A-Za-z]{49}$/
const encoder = new TextEncoder()

const base62 = (number: bigint, length: number): string => {
  let text = ''
  for (let rest = number; text.length < length; rest /= 62n) text = alphabet.charAt(Number(rest % 62n)) + text
  return text
}

const checksum = (body: string): string => base62(BigInt(crc32(encoder.encode(body))), checksumLength)

/** A new token, from 32 random bytes. Shown once; only its `hashToken` is kept. */
export function newToken(chance: Chance = systemChance): string {
  let number = 0n
  for (const byte of chance.bytes(32)) number = (number << 8n) | BigInt(byte)
  const body = base62(number, bodyLength)
  return `${prefix}${body}${checksum(body)}`
}

/** Whether a text can be a token at all: right prefix, length, alphabet and checksum. Costs no look into the storage. */
export function isToken(text: string): boolean {
  if (!pattern.test(text)) return false
  const body = text.slice(prefix.length, prefix.length + bodyLength)
  return text.endsWith(checksum(body))
}

/** The SHA-256 of a token, in hex, for storage and lookup. */
export const hashToken = sha256

/** A token as lists show it: enough to recognise it, too little to use it. */
export function redactToken(token: string): string {
  return `${token.slice(0, prefix.length + 4)}…${token.slice(-4)}`
}
