/** The command line of the server. What a command needs is loaded when it runs, so that help and mistakes come at once. */
import { Command, Option } from 'commander'
import { usageLine } from '../json.ts'
import type { Output } from '../output.ts'
import { storageForms } from './address.ts'
import type * as commands from './commands.ts'
import { list, onNetwork, onStorage } from './options.ts'
import type { Running } from './serve.ts'
import { serveCommand } from './serve-command.ts'

/** What the commands may ask of the process. */
export interface Host {
  readonly out: Output
  /** Whether errors are JSON. */
  readonly json: boolean
  /** Shows how far something is, over and over in one line; left out where nobody looks. */
  readonly draw?: ((line: string) => void) | undefined
  readonly version: string
  /** Is given the server that runs, and ends it with the process. */
  readonly started: (running: Running) => void
}

const load = () => import('./commands.ts')

/** The program; `parseAsync` runs it. */
export function createProgram({ out, json, draw, started, version }: Host): Command {
  const program = new Command('folkmoot')
    .description('A community-network Admin API server.')
    .version(version, '--version', 'print the version')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => out.line(text.trimEnd()),
      writeErr: (text) => out.warn(text.trimEnd()),
      outputError: (text, write) => write(usageLine('folkmoot', text, json)),
    })
  if (!json) program.showHelpAfterError('(see folkmoot --help)')

  serveCommand(program, out, started)

  const networks = program.command('networks').description('networks of a storage')
  onStorage(networks.command('create'))
    .description('create a network with its first host')
    .requiredOption('--subdomain <name>', 'its subdomain')
    .requiredOption('--title <text>', 'its title')
    .requiredOption('--owner-email <address>', "its first host's e-mail address")
    .requiredOption('--owner-name <name>', "its first host's name")
    .addOption(
      new Option('--plan <name>', 'its plan, which sets the rate limit')
        .choices(['standard', 'premium', 'unlimited'])
        .default('standard'),
    )
    .option('--email-visibility', "its plan shows members' e-mail addresses")
    .action(async (flags: commands.NetworkFlags) => (await load()).createNetwork(flags, out))

  const keys = program.command('keys').description('API keys of a network')
  onNetwork(keys.command('create'))
    .description('create a key and print its token, once')
    .requiredOption('--name <text>', 'a descriptive name')
    .requiredOption('--scope <scope>', 'members:read, *:read, *, …; as often as wanted', list, [])
    .option('--member <id>', 'the member who acts; the first host by default')
    .option('--expires <time>', 'when it stops working, ISO 8601')
    .action(async (flags) => (await load()).createKey(flags, out))
  onNetwork(keys.command('list'))
    .description('list keys, active and revoked')
    .action(async (flags) => (await load()).listKeys(flags, out))
  onNetwork(keys.command('revoke').argument('<id>'))
    .description('revoke a key, at once and for good')
    .action(async (id: string, flags) => (await load()).revokeKey(id, flags, out))

  const endpoints = program.command('endpoints').description('webhook endpoints of a network')
  onNetwork(endpoints.command('add'))
    .description('register an endpoint, or change the one with this URL')
    .requiredOption('--url <url>', 'where webhooks go')
    .requiredOption('--key <key>', 'sent as bearer token')
    .option('--event <type>', 'an event type that it wants; every one by default', list, [])
    .option('--secret <secret>', 'a signing secret (whsec_…), newest first', list, [])
    .addOption(new Option('--audience <who>', 'who listens').choices(['integration', 'host']).default('integration'))
    .addOption(new Option('--order <order>', 'fifo: oldest first and one at a time').choices(['none', 'fifo']).default('none'))
    .action(async (flags) => (await load()).addEndpoint(flags, out))
  onNetwork(endpoints.command('list'))
    .description('list endpoints')
    .action(async (flags) => (await load()).listEndpoints(flags, out))
  onNetwork(endpoints.command('remove').argument('<id>'))
    .description('remove an endpoint')
    .action(async (id: string, flags) => (await load()).removeEndpoint(id, flags, out))

  program
    .command('migrate')
    .description('bring the tables of a database to this version; servers do it by themselves when they start')
    .requiredOption('--storage <address>', 'sqlite:PATH or postgres://…')
    .option('--dry-run', 'print the statements, and run none')
    .option('--json', 'print JSON for programs')
    .action(async (flags) => (await import('./migrate.ts')).migrate(flags, out))

  program
    .command('copy')
    .description('copy a whole storage into an empty one; goes on where it was when it was interrupted')
    .requiredOption('--from <address>', storageForms)
    .requiredOption('--to <address>', storageForms)
    .option('--json', 'print JSON for programs')
    .action(async (flags) => (await import('./copy.ts')).copy(flags, out, draw))

  program
    .command('spec')
    .description('print the OpenAPI document')
    .option('--webhooks', 'of the webhooks')
    .action(async (flags) => (await import('./spec.ts')).printSpec(flags, out))
  return program
}
