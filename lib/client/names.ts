/** How a method of the client is named and called, from an operation's id and path. One rule for every operation. */

/** `custom_fields` as `customFields`. */
export const camelCase = (word: string): string => word.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase())

/** The names of the ids in a path, in order. */
export const idsIn = (path: string): readonly string[] => [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => name)

/**
 * The name of an operation's method: the words of the path up to the one that the id names, then the verb of the id.
 * `post_reactions.list` at `/posts/:post_id/reactions` is `posts.reactions.list`.
 * @param id `<group>.<verb>`
 * @param path below the network, with `:name` for an id
 */
export function methodName(id: string, path: string): readonly string[] {
  const [group = '', verb = ''] = id.split('.')
  const words = path.split('/').filter((word) => word !== '' && !word.startsWith(':'))
  const last = words.findLastIndex((word) => group.endsWith(word))
  return [...(last < 0 ? [group] : words.slice(0, last + 1)), verb].map(camelCase)
}
