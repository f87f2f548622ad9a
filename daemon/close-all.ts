/**
 * Closes one after the other. After one that fails, such as on a disk that has become read-only, the others are closed too.
 * @throws the first failure
 */
export async function closeAll(parts: readonly (() => Promise<unknown>)[]): Promise<void> {
  const failures: unknown[] = []
  for (const close of parts) await close().catch((error: unknown) => failures.push(error))
  if (failures.length > 0) throw failures[0]
}
