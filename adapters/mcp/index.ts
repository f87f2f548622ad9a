/** `folkmoot/mcp`: the operations as tools of the Model Context Protocol, for agents. */
import '../../lib/base/supported-runtime.ts'

export { createMcp, type Mcp, type McpOptions } from './handler.ts'
export type { ToolChoice } from './tools.ts'
