/** The parts that both OpenAPI documents have. */
import type { JsonSchema } from '../fields.ts'

export type Document = Readonly<Record<string, unknown>>

export const info = {
  title: 'Community Network Admin API',
  version: '1.0.0',
  license: { name: 'MIT', identifier: 'MIT' },
}

/** The content of a request or a response that is JSON. */
export const json = (schema: JsonSchema) => ({ 'application/json': { schema } })

/**
 * What an id in a path names, in a sentence.
 * @param path of an operation, with `:name` for each id
 */
export function idInPath(path: string, name: string): string {
  const segments = path.split('/')
  const before = segments[segments.indexOf(`:${name}`) - 1] ?? ''
  const noun = before.replace(/s$/, '').replaceAll('_', ' ').replace('rsvp', 'RSVP')
  return `The id of the ${noun}.`
}
