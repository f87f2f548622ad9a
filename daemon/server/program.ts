/** The command line of the server. What a command needs is loaded when it runs, so that help and mistakes come at once. */
import { Command, Option } from 'commander'
import type { Output } from '../output.ts'
import { UsageError } from '../usage.ts'
import { defaultStorage, storageForms } from './address.ts'
import type * as commands from './commands.ts'
import type { Running, ServeFlags } from './serve.ts'

/** What the commands may ask of the process. */
export interface Host {
  readonly out: Output
  /** Shows how far something is, over and over in one line; left out where nobody looks. */
  readonly draw?: ((line: string) => void) | undefined
  /** Is given the server that runs, and ends it with the process. */
  readonly started: (running: Running) => void
}

const list = (value: string, before: string[]): string[] => [...before, value]
const port = (text: string): number => {
  const number = Number(text)
  if (!/^\d{1,5}$/.test(text) || number > 65_535)
    throw new UsageError(`--port must be a number from 0 to 65535, got ${JSON.stringify(text)}`)
  return number
}

const onStorage = (command: Command): Command =>
  command
    .option('--storage <address>', storageForms, defaultStorage)
    .option('--outbox <directory>', 'where the outbox of lowdb and memory is; beside the file by default')
    .option('--json', 'print JSON for programs')
const onNetwork = (command: Command): Command =>
  onStorage(command).requiredOption('--network <id or subdomain>', 'the network', '1')

const load = () => import('./commands.ts')

/** The program; `parseAsync` runs it. */
export function createProgram({ out, draw, started }: Host): Command {
  const program = new Command('folkmoot')
    .description('A community-network Admin API server.')
    .exitOverride()
    .configureOutput({ writeOut: (text) => out.line(text.trimEnd()), writeErr: (text) => out.warn(text.trimEnd()) })
    .showHelpAfterError('(see folkmoot --help)')

  onStorage(program.command('serve'))
    .description('serve the API')
    .option('--port <number>', 'the port; 0 takes a free one', port, 4000)
    .option('--host <address>', 'the address to listen on', '127.0.0.1')
    .option('--assets <directory>', 'where uploads are kept; beside the file by default')
    .option('--public-url <origin>', 'the origin that callers see, for links and uploads')
    .option('--allow-http', 'accept plain HTTP: for development')
    .option('--trust-proxy', 'believe X-Forwarded-Proto and X-Forwarded-Host')
    .option('--tls-cert <file>', 'certificate, PEM')
    .option('--tls-key <file>', "the certificate's key, PEM")
    .option('--demo', 'make the demo network and a token')
    .option('--relay', 'run the webhook relay in this process')
    .option('--webhook-url <url>', 'register an endpoint of the demo network; with --webhook-key, as often as wanted', list, [])
    .option('--webhook-key <key>', 'the key that the endpoint gets as bearer token', list, [])
    .action(async (flags: ServeFlags) => {
      const { serve } = await import('./serve.ts')
      started(await serve(flags, out))
    })

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
