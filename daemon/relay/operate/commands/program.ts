/** The command line of the relay. A command's modules are loaded when it runs, so that help and usage errors come without delay. */
import { Command } from 'commander'
import { handOverKeys, withEncryptionKeys } from '../../../encryption-keys.ts'
import { hintAtHelp, hintAtOtherProgram } from '../../../help-hint.ts'
import { usageLine } from '../../../json.ts'
import { heedVariables, variableOption } from '../../../variables.ts'
import { handOverNoProxy, withSettingFlags } from '../settings/setting-flags.ts'
import type { ReplayFlags, SelectionFlags } from '../tasks/delivery-selection.ts'
import type { CheckFlags } from './check.ts'
import type { CircuitFlags } from './close-circuit.ts'
import type { ConfigFlags } from './config.ts'
import type { ExplainFlags } from './explain.ts'
import type { InspectFlags } from './inspect.ts'
import type { Host, RunFlags } from './run.ts'
import type { SkipFlags } from './skip.ts'
import type { TestFlags } from './test-endpoint.ts'

const inspect = () => import('./inspect.ts')

/**
 * The program; `parseAsync` runs it.
 * @param host what the commands may ask of the process
 */
export function createProgram(host: Host): Command {
  const program = new Command('folkmoot-relay')
    .description('Delivers the events of an outbox as webhooks, at least once.')
    .version(host.version, '--version', 'print the version')
    .exitOverride()
    .configureOutput({ outputError: (text, write) => write(usageLine('folkmoot-relay', text, host.json)) })
  handOverKeys(program, host.encryptionKeys)
  handOverNoProxy(program, host.noProxy)
  heedVariables(program)
  const { width } = host
  const print = async (text: Promise<string>): Promise<void> => void host.output.write(await text)

  const command = (name: string, description: string): Command =>
    program
      .command(name)
      .description(description)
      .addOption(
        variableOption(
          '--outbox <address>',
          'the outbox that the API server writes to: a directory, sqlite:PATH or postgres://…',
        ),
      )
      .option('--json', 'JSON objects, one per line')

  const listing = (name: string, description: string): Command =>
    command(name, description).option('--wide', 'every column, nothing shortened, times as ISO 8601')

  const withSettings = (made: Command): Command =>
    withEncryptionKeys(withSettingFlags(made.option('--config <file>', 'settings as JSON; flags override them')))

  const withSelection = (made: Command): Command =>
    made
      .option('--endpoint <id>', 'only this endpoint')
      .addOption(variableOption('--network <id>', 'only this network'))
      .option('--event <id>', 'only this event')
      .option('--type <type>', 'only events of this type')
      .option('--since <time>', 'only events ingested at or after this time')
      .option('--until <time>', 'only events ingested before this time')
      .option('--slower <seconds>', 'only those whose latest attempt took at least this long')
      .option('--limit <count>', 'show at most this many')

  withSettings(command('run', 'run until SIGTERM or SIGINT; SIGHUP reads --config and the encryption keys again')).action(
    async (flags: RunFlags) => (await import('./run.ts')).run(flags, host),
  )
  withSettings(command('check', 'check whether a relay could run here; changes nothing')).action(async (flags: CheckFlags) => {
    const { check } = await import('./check.ts')
    const { ok, text } = await check(flags)
    host.output.write(text)
    if (!ok) host.failed()
  })
  withSettings(
    listing('config', 'the settings that `run` would take here, where each comes from, and those of a running relay'),
  ).action(async (flags: ConfigFlags, shown: Command) => {
    const fromEnv = shown.options.filter((option) => shown.getOptionValueSource(option.attributeName()) === 'env')
    const variables = Object.fromEntries(fromEnv.map((option) => [option.attributeName(), option.envVar ?? '']))
    return print((await import('./config.ts')).config({ ...flags, width, variables }))
  })
  listing('status', 'every endpoint: its circuit, its waiting and dead deliveries').action(async (flags: InspectFlags) =>
    print((await inspect()).status({ ...flags, width })),
  )
  withSelection(listing('deliveries', 'deliveries, the newest first'))
    .option('--status <state>', 'pending, delivered, dead or skipped')
    .action(async (flags: InspectFlags & SelectionFlags) => print((await inspect()).deliveries({ ...flags, width })))
  withSelection(listing('dead', 'deliveries without attempts left, the newest first')).action(
    async (flags: InspectFlags & SelectionFlags) => print((await inspect()).dead({ ...flags, width })),
  )
  command('explain', 'why an event was delivered to an endpoint, or was not')
    .option('--event <id>', 'its id')
    .option('--endpoint <id>', 'the id of the endpoint')
    .addOption(variableOption('--network <id>', 'its network, if several have an endpoint with this id'))
    .action(async (flags: ExplainFlags) => print((await import('./explain.ts')).explain(flags)))
  withSelection(command('replay', 'make dead deliveries due again'))
    .option('--status <state>', 'dead (the default), skipped or delivered')
    .option('--rate <count>', 'at most this many per second; without it, all become due together')
    .option('--all', 'all of them')
    .action(async (flags: InspectFlags & ReplayFlags, replayed: Command) => {
      const { replay } = await import('./replay.ts')
      // Nobody who has a variable set has chosen what to send again.
      const isChosen = replayed.getOptionValueSource('network') !== 'env'
      return print(replay(flags, host.progress, isChosen))
    })
  command('skip', 'set waiting deliveries of an endpoint aside, the oldest first')
    .option('--endpoint <id>', 'only this endpoint')
    .addOption(variableOption('--network <id>', 'its network, if several have an endpoint with this id'))
    .option('--before <time>', 'only events ingested before this time')
    .option('--event <id>', 'only this event')
    .option('--type <type>', 'only events of this type')
    .option('--limit <count>', 'at most this many; 1 is the head of a fifo endpoint')
    .action(async (flags: SkipFlags) => print((await import('./skip.ts')).skip(flags)))
  command('close-circuit', 'resume sending to an endpoint, slowly at first')
    .option('--endpoint <id>', 'its id')
    .addOption(variableOption('--network <id>', 'its network, if several have an endpoint with this id'))
    .action(async (flags: CircuitFlags) => print((await import('./close-circuit.ts')).closeCircuit(flags)))
  withSettings(
    program
      .command('endpoints')
      .description('the endpoints of a relay')
      .command('test')
      .description('send a TestHook to an endpoint immediately; exit code 1 if it is not delivered')
      .addOption(
        variableOption(
          '--outbox <address>',
          'the outbox that the API server writes to: a directory, sqlite:PATH or postgres://…',
        ),
      )
      .option('--endpoint <id>', 'its id')
      .addOption(variableOption('--network <id>', 'its network, if several have an endpoint with this id'))
      .option('--json', 'JSON objects, one per line'),
  ).action(async (flags: TestFlags) => {
    const { testEndpoint } = await import('./test-endpoint.ts')
    const { ok, text } = await testEndpoint(flags, host.version)
    host.output.write(text)
    if (!ok) host.failed()
  })
  hintAtOtherProgram(program, 'folkmoot-relay', host.json)
  if (!host.json) hintAtHelp(program)
  return program
}
