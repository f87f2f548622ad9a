/** Pairs of ed25519 that sign: the private key is a secret of an endpoint, and its public half is shown, for receivers. */
import { joined, toBase64 } from '../../base/bytes.ts'
import { type Chance, systemChance } from '../../base/chance.ts'
import { pkcs8 } from '../../receiver/secrets.ts'

const seedBytes = 32

const fromBase64 = (text: string): Uint8Array<ArrayBuffer> => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0))

async function publicHalf(seed: Uint8Array): Promise<Uint8Array<ArrayBuffer>> {
  const key = await crypto.subtle.importKey('pkcs8', joined([pkcs8, seed]), 'Ed25519', true, ['sign'])
  const { x = '' } = await crypto.subtle.exportKey('jwk', key)
  return fromBase64(x.replace(/-/g, '+').replace(/_/g, '/'))
}

/** The public keys (`whpk_…`) of those secrets that are private keys (`whsk_…`); null where none is. */
export async function publicKeysOf(secrets: readonly string[]): Promise<readonly string[] | null> {
  const seeds = secrets
    .filter((secret) => secret.startsWith('whsk_'))
    .map((secret) => fromBase64(secret.slice('whsk_'.length)).subarray(0, seedBytes))
  const keys = await Promise.all(seeds.map(async (seed) => `whpk_${toBase64(await publicHalf(seed))}`))
  return keys.length > 0 ? keys : null
}

/** A new private key, with its public half behind it. */
export async function newPrivateKey(chance: Chance = systemChance): Promise<string> {
  const seed = chance.bytes(seedBytes)
  return `whsk_${toBase64(joined([seed, await publicHalf(seed)]))}`
}
