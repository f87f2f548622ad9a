/** The parts that both OpenAPI documents have. */
import type { JsonSchema } from '../fields.ts'

export type Document = Readonly<Record<string, unknown>>

export const info = {
  title: 'Community Network Admin API',
  version: '1.0.0',
  license: { name: 'MIT', identifier: 'MIT' },
}

/** The content of a request or an answer that is JSON. */
export const json = (schema: JsonSchema) => ({ 'application/json': { schema } })
