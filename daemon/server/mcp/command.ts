/** The options of `folkmoot mcp`. */
import type { Readable } from 'node:stream'
import type { Command } from 'commander'
import type { Output } from '../../output.ts'
import { UsageError } from '../../usage.ts'
import { list, networkOption } from '../commands/common-options.ts'
import { withToken } from '../credentials/token-options.ts'
import type { Running } from '../serve/serve.ts'
import type { McpFlags } from './mcp.ts'

interface Host {
  readonly out: Output
  readonly input: () => Readable
  readonly failed: () => void
}

const protocolPackage = '@modelcontextprotocol/server'

/** @param starting is given what runs, to end it with the process */
export function mcpCommand(program: Command, { out, input, failed }: Host, starting: (running: Promise<Running>) => void): void {
  const command = program
    .command('mcp')
    .description('the operations of a server as tools of the Model Context Protocol, on standard input and output')
    .requiredOption('--url <url>', 'the server, such as https://api.example.org')
    .addOption(networkOption('the network').makeOptionMandatory())
  withToken(command, '--token', 'the server', false)
    .option('--write <groups...>', 'groups whose operations may write, such as posts members; * is every group', list, [])
    .option('--only <groups...>', 'make tools for these groups only; for every group by default', list, [])
    .option('--relay-control <url>', 'the control port of a relay on this machine, for tools of its deliveries')
    .option('--relay-control-token-file <file>', 'the file with the token of that control port')
    .option('--install <agent>', 'instead, write this command into the configuration of an agent, such as claude-code')
    .action(async ({ install: agent, ...flags }: McpFlags & { readonly install?: string }) => {
      if (agent !== undefined) {
        const { install } = await import('./install.ts')
        return install(agent, flags, out)
      }
      const { isMissing, missingPackage } = await import('../../../adapters/optional-package.ts')
      if (isMissing(protocolPackage)) throw new UsageError(missingPackage('folkmoot mcp', protocolPackage))
      const { serveMcp } = await import('./mcp.ts')
      starting(Promise.resolve(serveMcp(flags, { out, input: input(), failed })))
    })
}
