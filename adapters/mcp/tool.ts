/** A tool as an agent sees it, and what is behind it. */
import type { AnyOperation } from '../../lib/operation.ts'

export type Arguments = Readonly<Record<string, unknown>>

/** What an agent sees of a tool. */
interface ToolHead {
  /** The id of the operation, with `_` in place of the dot: `members_list`. */
  readonly name: string
  readonly description: string
  readonly inputSchema: { readonly type: 'object'; readonly [keyword: string]: unknown }
  readonly annotations: {
    readonly title: string
    readonly readOnlyHint: boolean
    readonly destructiveHint: boolean
    readonly idempotentHint: boolean
    readonly openWorldHint: boolean
  }
}

/** An operation as a tool. */
export interface Tool extends ToolHead {
  readonly operation: AnyOperation
}

export interface RelayTool extends ToolHead {
  /** @throws TypeError that names a wrong argument */
  readonly run: (given: Arguments) => Promise<Arguments>
}

export type AnyTool = Tool | RelayTool
