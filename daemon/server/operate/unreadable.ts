/** Endpoints whose tokens and secrets the encryption keys of this server do not decrypt. */
import { isEncryptionError, keyRing } from '../../../lib/outbox/encryption.ts'
import type { Storage } from '../../../lib/storage/contract.ts'
import { webhookEndpoints } from '../../../lib/storage/tables/administration.ts'

/** Reports their number and the problem of the first one; requests are still served. */
export async function warnOfUnreadable(
  storage: Storage,
  encryptionKeys: readonly string[],
  warn: (sentence: string) => void,
): Promise<void> {
  const rows = await storage.transaction((tx) => tx.find(webhookEndpoints, {}), { readOnly: true })
  const ring = keyRing(encryptionKeys)
  const problems: string[] = []
  for (const row of rows)
    await ring.open(row).catch((error: unknown) => {
      if (!isEncryptionError(error)) throw error
      problems.push(error.message)
    })
  const [first] = problems
  if (first === undefined) return
  const others = problems.length === 1 ? '' : `; ${problems.length} of ${rows.length} endpoints cannot be read`
  warn(`${first}${others}. They cannot be rotated here, and a relay with the same encryption keys sends them nothing`)
}
