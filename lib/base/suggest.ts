/** Names that may have been meant. */

/**
 * The known names nearest to a mistyped one, nearest first.
 * @param known all names
 */
export function nearest(given: string, known: readonly string[]): readonly string[] {
  const low = given.toLowerCase()
  return known
    .map((name) => ({ name, far: distance(low, name.toLowerCase()) - (name.toLowerCase().startsWith(low) ? given.length : 0) }))
    .filter(({ far, name }) => far <= Math.max(2, Math.floor(name.length / 3)))
    .sort((a, b) => a.far - b.far)
    .slice(0, 3)
    .map(({ name }) => name)
}

/** `did you mean a or b?`, or everything that there is. */
export function suggestion(given: string, known: readonly string[]): string {
  const near = nearest(given, known)
  return near.length > 0 ? `did you mean ${near.join(' or ')}?` : `allowed: ${known.join(', ')}`
}

/** Letters to change, add or leave out between two names. */
function distance(a: string, b: string): number {
  if (a.length > 100) return a.length
  let row = Array.from({ length: b.length + 1 }, (_, place) => place)
  for (const [i, letter] of [...a].entries()) {
    const next = [i + 1]
    for (const [j, other] of [...b].entries())
      next.push(Math.min((row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1, (row[j] ?? 0) + (letter === other ? 0 : 1)))
    row = next
  }
  return row.at(-1) ?? 0
}
