/** The options of `pull` and `diff`. */
import type { Command } from 'commander'
import { UsageError } from '../../usage.ts'
import { variableOption } from '../../variables.ts'
import { list, networkOption, storageForms } from '../commands/common-options.ts'
import { withToken } from '../credentials/token-options.ts'
import type { MovingHost } from './progress.ts'

export function movingCommands(program: Command, host: MovingHost): void {
  withToken(
    program
      .command('pull')
      .description('copy a network of any server of this API into a storage; run again, it brings what changed')
      .requiredOption('--from <url>', 'the address of the server')
      .addOption(networkOption('the network').makeOptionMandatory()),
    '--token',
    'that server',
  )
    .requiredOption('--to <address>', storageForms.replace('memory:, ', ''))
    .addOption(variableOption('--outbox <directory>', 'the outbox of lowdb; next to the file by default'))
    .option('--only <groups>', 'only these groups, such as members,spaces, and what they refer to')
    .option('--since <time>', 'skip records that were last changed before this time, ISO 8601')
    .option('--json', 'print JSON for programs')
    .action(async (flags) => (await import('./pull/pull.ts')).pull(flags, host))

  const diff = program
    .command('diff')
    .description('send the same read requests to two servers, and show how their responses differ; exit code 1 if they do')
    .requiredOption('--a <url>', 'the address of the first server')
    .requiredOption('--b <url>', 'the address of the second server')
    .addOption(networkOption('the network').makeOptionMandatory())
    .option('--b-network <id or subdomain>', 'the network on the second server, if it has another name there')
  withToken(withToken(diff, '--a-token', 'the first server'), '--b-token', 'the second one')
    .option('--sample <number>', 'compare at most this many records per list, and requests per operation', sampleOf, 25)
    .option('--all', 'every record of every list')
    .option(
      '--ignore <field or path>',
      'leave out a field (last_visited_at, creator.email) or a path (/me); repeatable',
      list,
      [],
    )
    .option('--json', 'JSON for programs: one object per difference')
    .option('--wide', 'nothing shortened')
    .action(async (flags) => (await import('./diff/diff.ts')).diff(flags, host))
}

/** @throws UsageError */
function sampleOf(text: string): number {
  const number = Number(text)
  if (!Number.isSafeInteger(number) || number < 1)
    throw new UsageError(`--sample must be a whole number from 1, got ${JSON.stringify(text)}`)
  return number
}
