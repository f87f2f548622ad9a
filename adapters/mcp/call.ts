/** One call of a tool: its arguments become a request of the client, and the answer becomes the result. */
import { type Client, isClientError } from '../../lib/client/index.ts'
import { defaultPage, idsIn, isList, largestPage, longestCursor } from './schema.ts'
import type { Tool } from './tools.ts'

/** The result of a call, as the protocol has it. */
export interface ToolResult {
  readonly content: { readonly type: 'text'; readonly text: string }[]
  readonly structuredContent?: Record<string, unknown>
  readonly isError?: true
  readonly [extra: string]: unknown
}

/** The longest answer, in characters: more would fill the context of an agent. */
const longestAnswer = 200_000

type Arguments = Readonly<Record<string, unknown>>

const refused = (text: string): ToolResult => ({ content: [{ type: 'text', text }], isError: true })

/** @throws TypeError that names an argument that does not exist */
function checkNames({ name, inputSchema }: Tool, given: Arguments): void {
  const known = Object.keys(inputSchema['properties'] ?? {})
  const stranger = Object.keys(given).find((argument) => !known.includes(argument))
  if (stranger !== undefined)
    throw new TypeError(
      `${name} has no argument ${JSON.stringify(stranger.slice(0, 60))}. Arguments: ${known.join(', ') || 'none'}`,
    )
}

/** Whether a text is the query of a next page. The API ignores unknown parameters, and would answer a damaged one with the first page. */
function isCursor(cursor: unknown, { query = {} }: Tool['operation']): cursor is string {
  if (typeof cursor !== 'string' || cursor.length > longestCursor) return false
  const names = [...new URLSearchParams(cursor).keys()]
  const known = ['page', 'per_page', 'after', ...Object.keys(query)]
  return ['page', 'after'].every((name) => names.includes(name)) && names.every((name) => known.includes(name))
}

/** @throws TypeError that names the argument and the rule */
function pageOf(operation: Tool['operation'], { limit = defaultPage, cursor, ...query }: Arguments): Arguments {
  if (cursor !== undefined && cursor !== null) {
    if (!isCursor(cursor, operation)) throw new TypeError('cursor must be the text in `next_cursor` of the answer before')
    return { from: `?${cursor}` }
  }
  if (!Number.isSafeInteger(limit) || Number(limit) < 1 || Number(limit) > largestPage)
    throw new TypeError(`limit must be a whole number from 1 to ${largestPage}`)
  return { ...query, per_page: limit }
}

const cursorIn = (next: string | null): string | null =>
  next === null ? null : new URL(next, 'https://localhost').search.slice(1)

async function answerOf(client: Client, tool: Tool, given: Arguments, signal: AbortSignal): Promise<Record<string, unknown>> {
  const { operation } = tool
  checkNames(tool, given)
  const { body, ...rest } = given
  const ids = idsIn(operation.path)
  const params = Object.fromEntries(ids.map((name) => [name, rest[name]]))
  const query = Object.fromEntries(Object.entries(rest).filter(([name]) => !ids.includes(name)))
  const parts = { params, ...(operation.body ? { body: body ?? {} } : {}) }
  const answer: unknown = await client.call(
    operation.id,
    { ...parts, query: isList(operation) ? pageOf(operation, query) : query },
    { signal },
  )
  if (typeof answer !== 'object' || answer === null) return { done: true }
  if (!('items' in answer) || !('links' in answer)) return { ...answer }
  const { next } = answer.links as { readonly next: string | null }
  return { items: answer.items, next_cursor: cursorIn(next) }
}

/**
 * Calls a tool. A refusal is a result, with the sentence of the API, so that the agent can read it.
 * @param signal ends the call
 */
export async function callTool(client: Client, tool: Tool, given: unknown, signal: AbortSignal): Promise<ToolResult> {
  const isObject = typeof given === 'object' && given !== null && !Array.isArray(given)
  if (given !== undefined && !isObject) return refused('the arguments must be an object')
  try {
    const answer = await answerOf(client, tool, (given ?? {}) as Arguments, signal)
    const text = JSON.stringify(answer)
    if (text.length > longestAnswer)
      return refused(
        `The answer has ${text.length} characters, more than ${longestAnswer}.${isList(tool.operation) ? ' Ask again with a smaller `limit`.' : ''}`,
      )
    return { content: [{ type: 'text', text }], structuredContent: answer }
  } catch (error) {
    // A `TypeError` names a wrong argument. Anything else is a fault, which the protocol reports without its message.
    if (isClientError(error) || error instanceof TypeError) return refused(error.message)
    throw error
  }
}
