/** The command line of the relay. */
import { Command } from 'commander'
import { type Host, type RunFlags, run } from './run.ts'

/** What the flags mean, once for all commands. */
const outbox = ['--outbox <directory>', 'the outbox that the API server writes to'] as const

/**
 * The program; `parseAsync` runs it.
 * @param host what the commands may ask of the process
 */
export function createProgram(host: Host): Command {
  const program = new Command('folkmoot-relay')
    .description('Delivers the events of an outbox as webhooks, at least once.')
    .showHelpAfterError(false)
    .exitOverride()

  program
    .command('run')
    .description('run the relay until SIGTERM or SIGINT; SIGHUP reads --config again')
    .option(...outbox)
    .option('--config <file>', 'settings as JSON; flags go before it')
    .option('--retry-schedule <seconds>', 'delays before each attempt, separated by commas')
    .option('--timeout <seconds>', 'for a whole attempt')
    .option('--breaker-cooldown <seconds>', 'from the opening of a circuit to the first probe')
    .option('--allow-http', 'allow http: URLs')
    .option('--allow-private', 'allow private and loopback addresses, for development')
    .option('--control-port <port>', 'metrics, health and control on this port of the loopback address')
    .option('--json', 'one JSON object per line')
    .action((flags: RunFlags) => run(flags, host))
  return program
}
