/** The command line of the relay. A command's modules are loaded when it runs, so that help and usage errors come without delay. */
import { Command, Option } from 'commander'
import type { DeliveryFilter } from '../../../../lib/relay/relay-admin.ts'
import { handOverKeys, withEncryptionKeys } from '../../../encryption-keys.ts'
import { groupHelp } from '../../../help.ts'
import { hintAtHelp, hintAtOtherProgram } from '../../../help-hint.ts'
import { usageLine } from '../../../json.ts'
import { unpainted } from '../../../output.ts'
import { applyEnvPrecedence, variableOption } from '../../../variables.ts'
import { handOverNoProxy, withSettingFlags } from '../settings/setting-flags.ts'
import type { CheckFlags } from './check.ts'
import type { ConfigFlags } from './config.ts'
import type { EndpointFlags, ExplainFlags, InspectFlags, ListFlags } from './inspect.ts'
import type { ResendFlags, SkipFlags } from './resend.ts'
import type { Host, RunFlags } from './run.ts'
import type { TestFlags } from './test-endpoint.ts'

/** The variables that gave options, by option. */
const variablesOf = (command: Command): Readonly<Record<string, string>> => {
  const given = command.options.filter((option) => command.getOptionValueSource(option.attributeName()) === 'env')
  return Object.fromEntries(given.map((option) => [option.attributeName(), option.envVar ?? '']))
}

const inspect = () => import('./inspect.ts')

/** The program; `parseAsync` runs it. */
export function createProgram(host: Host): Command {
  const { width, paint = unpainted, paintError } = host
  const program = new Command('folkmoot-relay')
    .description('Delivers the events of an outbox as webhooks, at least once.')
    .version(host.version, '--version', 'print the version')
    .exitOverride()
    .configureOutput({ outputError: (text, write) => write(usageLine('folkmoot-relay', text, host.json, paintError)) })
    .configureHelp({ styleTitle: (title) => paint('bold', title) })
  handOverKeys(program, host.encryptionKeys)
  handOverNoProxy(program, host.noProxy)
  applyEnvPrecedence(program)
  const shown = { width, paint }
  const print = async (text: Promise<string>): Promise<void> => void host.output.write(await text)

  const command = (name: string, description: string, parent = program): Command =>
    parent
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

  const onEndpoint = (made: Command): Command =>
    made
      .option('--endpoint-id <id>', 'the id of the endpoint')
      .addOption(new Option('--network-id <id>', 'its network, if several have an endpoint with this id').env('FOLKMOOT_NETWORK'))

  withSettings(command('run', 'run until SIGTERM or SIGINT; SIGHUP reads --config and the encryption keys again')).action(
    async (flags: RunFlags) => (await import('./run.ts')).run(flags, host),
  )
  withSettings(command('check', 'check whether a relay could run here; changes nothing')).action(
    async (flags: CheckFlags, checked: Command) => {
      const { check } = await import('./check.ts')
      const { ok, text } = await check({ ...flags, variables: variablesOf(checked) })
      host.output.write(text)
      if (!ok) host.failed()
    },
  )
  withSettings(
    listing('config', 'the settings that `run` would take here, where each comes from, and those of a running relay'),
  ).action(async (flags: ConfigFlags, shown: Command) =>
    print((await import('./config.ts')).config({ ...flags, width, variables: variablesOf(shown) })),
  )
  listing('status', 'every endpoint: its circuit, its waiting and dead deliveries').action(async (flags: InspectFlags) =>
    print((await inspect()).status({ ...flags, ...shown })),
  )
  withConditions(listing('deliveries', 'deliveries, the newest first'), 'show at most this many').action(
    async (flags: ListFlags) => print((await inspect()).deliveries({ ...flags, ...shown })),
  )
  withConditions(listing('dead', 'deliveries without attempts left, the newest first'), 'show at most this many', [
    'state',
  ]).action(async (flags: ListFlags) => print((await inspect()).dead({ ...flags, ...shown })))
  onEndpoint(command('explain', 'why an event was delivered to an endpoint, or was not'))
    .option('--event-id <id>', 'the id of the event')
    .action(async (flags: ExplainFlags) => print((await import('./inspect.ts')).explain(flags)))
  withConditions(command('resend', 'make dead deliveries, or those of --state, due again'), 'at most this many, the oldest first')
    .option('--per-second <count>', 'at most this many per second; without it, all become due together')
    .option('--all', 'all of them')
    .action(async (flags: ResendFlags, resent: Command) => {
      const { resend } = await import('./resend.ts')
      // A variable that is set is no choice of what to send again.
      return print(resend(flags, host.progress, resent.getOptionValueSource('networkId') !== 'env'))
    })
  withConditions(
    onEndpoint(command('skip', 'set waiting deliveries of an endpoint aside, the oldest first')),
    'at most this many; 1 is the head of a fifo endpoint',
    ['state', 'endpoint_id', 'network_id'],
  ).action(async (flags: SkipFlags) => print((await import('./resend.ts')).skip(flags)))
  onEndpoint(command('close-circuit', 'resume sending to an endpoint, slowly at first')).action(async (flags: EndpointFlags) =>
    print((await import('./resend.ts')).closeCircuit(flags)),
  )
  const endpoints = program.command('endpoints').description('the endpoints of a relay')
  const testing = command('test', 'send a TestHook to an endpoint immediately; exit code 1 if it is not delivered', endpoints)
  withSettings(onEndpoint(testing)).action(async (flags: TestFlags) => {
    const { testEndpoint } = await import('./test-endpoint.ts')
    const { ok, text } = await testEndpoint(flags, host.version)
    host.output.write(text)
    if (!ok) host.failed()
  })
  groupHelp(program, 'folkmoot-relay', paint)
  hintAtOtherProgram(program, 'folkmoot-relay', host.json, paintError)
  if (!host.json) hintAtHelp(program)
  return program
}

/** The options for conditions on deliveries: the value of each, and what it chooses. */
const conditions: Readonly<Record<keyof DeliveryFilter, readonly [value: string, about: string]>> = {
  state: ['state', 'only pending, delivered, dead or skipped ones'],
  endpoint_id: ['id', 'only this endpoint'],
  network_id: ['id', 'only this network'],
  event_id: ['id', 'only this event'],
  event_type: ['type', 'only events of this type'],
  subject: ['type:id', 'only events of this subject, such as member:1001'],
  outcome: ['outcome', 'only those whose latest attempt ended so'],
  http_status: ['status', 'only those whose latest response has this status'],
  min_milliseconds: ['milliseconds', 'only those whose latest attempt took at least this long'],
  last_attempt_since: ['time', 'only those whose latest attempt was at or after this time'],
  since: ['time', 'only events ingested at or after this time'],
  until: ['time', 'only events ingested before this time'],
}

/** Adds an option for each condition, but some: `endpoint_id` is `--endpoint-id`. */
function withConditions(made: Command, limit: string, except: readonly (keyof DeliveryFilter)[] = []): Command {
  for (const [name, [value, about]] of Object.entries(conditions)) {
    if (except.some((each) => each === name)) continue
    const option = new Option(`--${name.replaceAll('_', '-')} <${value}>`, about)
    made.addOption(name === 'network_id' ? option.env('FOLKMOOT_NETWORK') : option)
  }
  return made.option('--limit <count>', limit)
}
