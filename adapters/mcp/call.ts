/** One call of a tool: its arguments become a request of the client, and the response becomes the result. */
import { isObject } from '../../lib/base/json-object.ts'
import { suggestion } from '../../lib/base/suggest.ts'
import { type Client, isClientError } from '../../lib/client/index.ts'
import { idsIn } from '../../lib/client/names.ts'
import { type ListPage, readPageFor } from './pages.ts'
import { isList } from './schema.ts'
import { shortened } from './shorten.ts'
import type { AnyTool, Arguments, Tool } from './tool.ts'

/** The result of a call, as the protocol has it. */
export interface ToolResult {
  readonly content: { readonly type: 'text'; readonly text: string }[]
  readonly structuredContent?: Record<string, unknown>
  readonly isError?: true
  readonly [extra: string]: unknown
}

const refused = (text: string): ToolResult => ({ content: [{ type: 'text', text }], isError: true })

/** @throws TypeError that names an argument, or a field of the body, that does not exist: the API would ignore the field */
function checkNames({ name, inputSchema }: AnyTool, given: Arguments): void {
  const properties = Object(inputSchema['properties'])
  const known = Object.keys(properties)
  const stranger = Object.keys(given).find((argument) => !known.includes(argument))
  if (stranger !== undefined)
    throw new TypeError(
      `${name} has no argument ${JSON.stringify(stranger.slice(0, 60))}. Arguments: ${known.join(', ') || 'none'}`,
    )
  const fields = Object.keys(Object(properties.body?.properties))
  const unknown =
    fields.length > 0 && isObject(given['body']) && Object.keys(given['body']).find((each) => !fields.includes(each))
  if (typeof unknown === 'string')
    throw new TypeError(
      `the body of ${name} has no field ${JSON.stringify(unknown.slice(0, 60))}; ${suggestion(unknown.slice(0, 60), fields)}`,
    )
}

async function resultOf(client: Client, tool: AnyTool, given: Arguments, signal: AbortSignal): Promise<Arguments> {
  checkNames(tool, given)
  if ('run' in tool) return tool.run(given)
  const { operation } = tool
  const { body, preview, if_preview: token, ...rest } = given
  if (preview !== undefined && typeof preview !== 'boolean') throw new TypeError('preview must be true or false')
  if (token !== undefined && typeof token !== 'string') throw new TypeError('if_preview must be the token of a preview')
  const ids = idsIn(operation.path)
  const params = Object.fromEntries(ids.map((name) => [name, rest[name]]))
  const query = Object.fromEntries(Object.entries(rest).filter(([name]) => !ids.includes(name)))
  const parts = { params, ...(operation.body ? { body: body ?? {} } : {}) }
  if (preview) return { ...(await client.preview(operation.id, { ...parts, query }, { signal })) }
  const options = { signal, ...(token === undefined ? {} : { ifPreview: token }) }
  const call = async (query: Arguments): Promise<unknown> => client.call(operation.id, { ...parts, query }, options)
  // A list is awaited for its page.
  if (isList(operation)) return readPageFor(tool, query, async (query) => (await call(query)) as ListPage)
  const result = await call(query)
  if (typeof result !== 'object' || result === null) return { done: true }
  // Of a whole list that a change returns, no page follows.
  return 'items' in result && 'links' in result ? { items: result.items, next_cursor: null } : { ...result }
}

/** How a record that was cut can be read whole, or that its change was made. */
const remarkOn = (tool: AnyTool): string =>
  'run' in tool ? 'Only a person can read it whole, in the panel.' : remarkOnOperation(tool)

const remarkOnOperation = ({ operation: { method, path } }: Tool): string =>
  method === 'GET'
    ? `Only a program can read it whole, with \`GET ${path}\` of the API. Never write a text back that was cut.`
    : "The change was made: don't repeat it. Never write a text back that was cut."

/** Calls a tool. A refusal is a result, with the sentence of the API, so that the agent can read it. */
export async function callTool(client: Client, tool: AnyTool, given: unknown, signal: AbortSignal): Promise<ToolResult> {
  if (given !== undefined && !isObject(given)) return refused('the arguments must be an object')
  try {
    const result = await resultOf(client, tool, (given ?? {}) as Arguments, signal)
    const structuredContent = shortened(result, remarkOn(tool))
    return { content: [{ type: 'text', text: JSON.stringify(structuredContent) }], structuredContent }
  } catch (error) {
    // A `TypeError` names a wrong argument. Anything else is a fault, which the protocol reports without its message.
    if (isClientError(error) || error instanceof TypeError) return refused(error.message)
    throw error
  }
}
