/** The options of `pull` and `diff`. */
import type { Command } from 'commander'
import type { Output } from '../../output.ts'
import { storageForms } from '../storage/address.ts'
import { withToken } from '../token.ts'

/** The parts of the process that these commands use. */
export interface MovingHost {
  readonly out: Output
  readonly draw?: ((line: string) => void) | undefined
  /** Sets the exit code 1. */
  readonly failed: () => void
}

export function movingCommands(program: Command, { out, draw, failed }: MovingHost): void {
  withToken(
    program
      .command('pull')
      .description('copy a network of any server of this API into a storage; run again, it brings what changed')
      .requiredOption('--from <url>', 'the address of the server')
      .requiredOption('--network <id or subdomain>', 'the network'),
    '--token',
    'that server',
  )
    .requiredOption('--to <address>', storageForms.replace('memory:, ', ''))
    .option('--outbox <directory>', 'the outbox of lowdb; beside the file by default')
    .option('--only <groups>', 'only these, such as members,spaces, with those that they refer to')
    .option('--since <time>', 'leave records alone that were changed before, ISO 8601')
    .option('--json', 'print JSON for programs')
    .action(async (flags) => (await import('./pull.ts')).pull(flags, out, draw, failed))
}
