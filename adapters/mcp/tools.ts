/** The operations as tools, read from their declarations. */
import { suggestion } from '../../lib/base/suggest.ts'
import { type AnyOperation, groupOf } from '../../lib/operation.ts'
import { deliveriesGroup, deliveryTools, type RelayTarget } from './deliveries.ts'
import { argumentsOf } from './schema.ts'
import type { AnyTool, Tool } from './tool.ts'

/** The tools that an agent gets. Groups are those of scopes, such as `members`. */
export interface ToolChoice {
  /** The groups whose operations may write; `*` is every group. None by default: an agent can only read. */
  readonly write?: readonly string[] | undefined
  /** The groups that there are tools for; every group by default. Fewer tools cost an agent less, and it chooses better. */
  readonly only?: readonly string[] | undefined
}

// Only a creation that replaces nothing leaves everything else as it was. Its events show whether it may replace a record.
const onlyAdds = ({ id, emits }: AnyOperation): boolean =>
  id.endsWith('.create') && !emits.some((name) => /(?:Updated|Deleted|Removed|Canceled)$/.test(name))

function toolOf(operation: AnyOperation): Tool {
  const { id, method, scope, summary, description } = operation
  const reads = method === 'GET'
  return {
    name: id.replaceAll('.', '_'),
    description: `${summary} ${description} Scope of the token: ${scope}.`,
    inputSchema: argumentsOf(operation),
    annotations: {
      title: summary.replace(/\.$/, ''),
      readOnlyHint: reads,
      destructiveHint: !reads && !onlyAdds(operation),
      idempotentHint: method !== 'POST',
      openWorldHint: false,
    },
    operation,
  }
}

/**
 * The tools for a choice.
 * @param call names the options in messages, such as `--write`
 * @param relay a relay, for tools of its deliveries
 * @throws TypeError that names a group that does not exist, with the list
 */
export function toolsOf(
  operations: readonly AnyOperation[],
  choice: ToolChoice,
  call: (option: string) => string,
): readonly Tool[]
export function toolsOf(
  operations: readonly AnyOperation[],
  choice: ToolChoice,
  call: (option: string) => string,
  relay: RelayTarget | undefined,
): readonly AnyTool[]
export function toolsOf(
  operations: readonly AnyOperation[],
  { write = [], only = [] }: ToolChoice,
  call: (option: string) => string,
  relay?: RelayTarget,
): readonly AnyTool[] {
  const groups = [...new Set([...operations.map(groupOf), ...(relay ? [deliveriesGroup] : [])])].sort()
  const check = (option: string, named: readonly string[], known: readonly string[]) => {
    const stranger = named.find((group) => !known.includes(group))
    if (stranger !== undefined)
      throw new TypeError(
        `${call(option)} must name groups, got ${JSON.stringify(String(stranger).slice(0, 60))}; ${suggestion(String(stranger), known)}`,
      )
  }
  check('write', write, ['*', ...groups])
  check('only', only, groups)
  const isChosen = (group: string, reads: boolean): boolean =>
    (only.length === 0 || only.includes(group)) && (reads || write.includes('*') || write.includes(group))
  return [
    ...operations.filter((operation) => isChosen(groupOf(operation), operation.method === 'GET')).map(toolOf),
    ...(relay ? deliveryTools(relay) : []).filter(({ annotations }) => isChosen(deliveriesGroup, annotations.readOnlyHint)),
  ]
}
