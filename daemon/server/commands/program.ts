/** The options of `networks`, `members`, `keys`, `endpoints` and the commands that stand alone. */
import { Argument, type Command, Option } from 'commander'
import { auditActions } from '../../../lib/audit-actions.ts'
import type { Ask, Output } from '../../output.ts'
import { UsageError } from '../../usage.ts'
import { projectHosts, projectStorages } from '../init/choices.ts'
import { changing, list, onNetwork, onStorage, port, seconds, wide } from './common-options.ts'
import type { EndpointFlags } from './endpoints/changes.ts'
import { withAttributes } from './endpoints/options.ts'
import { exportSubjects } from './members/filter-flags.ts'
import { filterOptions } from './members/filters.ts'
import { moment } from './moment.ts'

const plan = (): Option =>
  new Option('--plan <name>', 'its plan, which sets the rate limit').choices(['standard', 'premium', 'unlimited'])

const withTexts = (command: Command): Command =>
  command
    .option('--subtitle <text>', 'its subtitle')
    .option('--purpose <text>', 'its purpose')
    .option('--description <text>', 'its description')
    .addOption(plan())
    .option('--email-visibility', 'show the e-mail addresses of members who consent')

export function networkCommands(program: Command, out: Output): void {
  const load = () => import('./networks.ts')
  const networks = program.command('networks').description('networks of a storage')
  withTexts(changing(onStorage(networks.command('create'))))
    .description('create a network with its first host, and the storage if it is missing')
    .requiredOption('--subdomain <name>', 'its subdomain')
    .requiredOption('--title <text>', 'its title')
    .requiredOption('--owner-email <address>', "its first host's e-mail address")
    .requiredOption('--owner-name <name>', "its first host's name")
    .action(async (flags) => (await load()).createNetwork(flags, out))
  wide(onStorage(networks.command('list')))
    .description('list networks')
    .action(async (flags) => (await load()).listNetworks(flags, out))
  onStorage(networks.command('show').argument('[network]', 'its id or subdomain'))
    .description('show a network')
    .action(async (name: string | undefined, flags) => (await load()).showNetwork(name, flags, out))
  withTexts(changing(onStorage(networks.command('update').argument('[network]', 'its id or subdomain'))))
    .description('change a network; omitted options stay')
    .option('--title <text>', 'its title')
    .option('--no-email-visibility', "hide members' e-mail addresses")
    .option('--read-only', 'refuse every write with a 503; reads and deliveries go on')
    .option('--no-read-only', 'take writes again')
    .action(async (name: string | undefined, flags) => (await load()).updateNetwork(name, flags, out))
}

export function memberCommands(program: Command, out: Output, ask?: Ask, draw?: (line: string) => void): void {
  const load = () => import('./members/former-members.ts')
  const acts = () => import('./members/acts.ts')
  const members = program.command('members').description('members of a network')
  const listing = wide(onNetwork(members.command('list'))).description('list members and former members, the newest first')
  for (const option of filterOptions('list')) listing.addOption(option)
  listing
    .option('--limit <number>', 'at most this many', entries, 50)
    .action(async (flags) => (await load()).listMembers(flags, out))
  changing(onNetwork(members.command('import').argument('<file>', 'a .csv or .ndjson file; - is standard input, as CSV')))
    .description('import members: email, first_name, last_name or name, further fields, and custom fields by their titles')
    .option('--map <column=field>', 'what a column of the file is; repeatable', list, [])
    .option('--name <text>', 'the name of the import, a tag of its members; by default with the time')
    .option('--plan <id>', 'a plan that they get; repeatable', list, [])
    .option('--space <id>', 'a space that they join; repeatable', list, [])
    .option('--tag <title>', 'a tag that they get; repeatable', list, [])
    .option('--update', 'change members who are there to what the file says')
    .option('--quiet', 'send no events')
    .option('--welcome', 'ask the host to mail a welcome')
    .option('--refused <file>', 'where refused rows are listed; by default FILE.refused.csv')
    .action(async (file: string, flags) => (await import('./members/import.ts')).importMembers(file, flags, out, draw))
  const many = changing(
    onNetwork(
      members
        .command('bulk')
        .addArgument(new Argument('<act>').choices(['tag', 'untag', 'badge', 'unbadge', 'space', 'plan', 'remove', 'ban']))
        .argument('[id]', 'of the tag, badge, space or plan; a tag or badge also by its title'),
    ),
  )
    .description('do one act for many members: those of the filters, or of a file')
    .option('--from <file>', 'a file with addresses or ids; - is standard input')
  for (const option of filterOptions('members')) many.addOption(option)
  many
    .option('--reason <text>', 'of a ban: why, for other hosts')
    .option('--keep-plans', 'of a ban: go on with their subscriptions and purchases')
    .option('--cancel-plans', 'of a removal: end their subscriptions and purchases, too')
    .option('--yes', 'do not ask')
    .action(async (act: string, id: string | undefined, flags) =>
      (await import('./members/bulk.ts')).bulk(act, id, flags, out, ask, draw),
    )
  onNetwork(members.command('show').argument('<id>'))
    .description('show a member or former member: profile, spaces, plans, tags, content, and what was done to them')
    .action(async (id: string, flags) => (await acts()).showMember(id, flags, out))
  changing(onNetwork(members.command('ban').argument('<id>')))
    .description('ban a member from the network; they cannot join again')
    .option('--reason <text>', 'why, for other hosts')
    .option('--keep-plans', 'go on with their subscriptions and purchases')
    .action(async (id: string, flags) => (await acts()).banMember(id, flags, out))
  changing(onNetwork(members.command('remove').argument('<id>')))
    .description('take a member out of the network; they may join again')
    .option('--cancel-plans', 'end their subscriptions and purchases, too')
    .action(async (id: string, flags) => (await acts()).removeMember(id, flags, out))
  changing(
    onNetwork(
      members
        .command('role')
        .argument('<id>')
        .addArgument(new Argument('<role>').choices(['host', 'moderator', 'contributor'])),
    ),
  )
    .description('change what a member may do in the network')
    .action(async (id: string, role, flags) => (await acts()).changeRole(id, role, flags, out))
  changing(onNetwork(members.command('unban').argument('<id>')))
    .description('lift the ban of a member, who may then join again')
    .action(async (id: string, flags) => (await load()).unbanMember(id, flags, out))
  changing(onNetwork(members.command('erase').argument('<id>')))
    .description('erase a person for good: address, names, profile, answers, invites and uploads')
    .option('--yes', 'do not ask')
    .option('--assets <directory>', 'the directory of uploads; by default ./assets, or next to the file of the storage')
    .action(async (id: string, flags) => (await load()).eraseMember(id, flags, out, ask))
  onNetwork(members.command('export').argument('<id>'))
    .description('write everything that the network stores about one person, as NDJSON')
    .option('--to <file>', 'a new file; - is standard output', '-')
    .action(async (id: string, flags) => (await import('./export.ts')).exportMember(id, flags, out, draw))
  changing(onNetwork(members.command('consent')))
    .description("record members' consent to commercial e-mail; without it their addresses stay hidden")
    .option('--member <id>', 'for this member')
    .option('--email <address>', 'for the member with this address')
    .option('--all', 'for every member')
    .option('--withdraw', 'withdraw the consent')
    .action(async (flags) => (await import('./members/members.ts')).consent(flags, out))
}

export function orderCommands(program: Command, out: Output): void {
  const load = () => import('./order.ts')
  const tags = program.command('tags').description('tags and badges of a network')
  wide(onNetwork(tags.command('list')))
    .description('list tags with the number of members who carry them')
    .option('--badges', 'list badges instead')
    .option('--unused', 'only those that no one carries')
    .action(async (flags) => (await load()).listTags(flags, out))
  changing(onNetwork(tags.command('create').argument('<title>')))
    .description('create a tag')
    .option('--color <color>', 'as #RRGGBB')
    .option('--description <text>', 'what it is for')
    .action(async (title: string, flags) => (await load()).createTag(title, flags, out))
  changing(
    onNetwork(
      tags.command('merge').argument('<from>', 'the id of the tag that goes').argument('<into>', 'the id of the one that stays'),
    ),
  )
    .description('give every holder of one tag another one, and delete the first')
    .action(async (from: string, into: string, flags) => (await load()).mergeTags(from, into, flags, out))
  const reports = program.command('reports').description('reports of abuse')
  wide(onNetwork(reports.command('list')))
    .description('list open reports with what was reported, the newest first')
    .option('--closed', 'list closed ones instead')
    .option('--limit <number>', 'at most this many', entries, 50)
    .action(async (flags) => (await load()).listReports(flags, out))
  changing(
    onNetwork(
      reports
        .command('close')
        .argument('<id>')
        .addArgument(new Argument('<decision>').choices(['dismiss', 'delete_content', 'ban_author'])),
    ),
  )
    .description('close a report: dismiss it, delete the content, or ban its author')
    .action(async (id: string, decision, flags) => (await load()).closeReport(id, decision, flags, out))
}

export function keyCommands(program: Command, out: Output): void {
  const load = () => import('./keys.ts')
  const keys = program.command('keys').description('API keys of a network')
  changing(onNetwork(keys.command('create')))
    .description('create a key and print its token, once')
    .requiredOption('--name <text>', 'a descriptive name')
    .option('--scope <scope>', 'members:read, *:read, *, …; repeatable', list, [])
    .option('--member <id>', 'the member who acts; the first host by default')
    .option('--expires <time>', 'when it stops working, ISO 8601')
    .action(async (flags) => (await load()).createKey(flags, out))
  wide(onNetwork(keys.command('list')))
    .description('list keys, active and revoked')
    .action(async (flags) => (await load()).listKeys(flags, out))
  changing(onNetwork(keys.command('revoke').argument('<id>')))
    .description('revoke a key, immediately and for good')
    .action(async (id: string, flags) => (await load()).revokeKey(id, flags, out))
}

const withSecrets = (command: Command): Command =>
  command
    .option('--token <token>', 'the bearer token that the receiver gets; better in a file')
    .option('--token-file <file>', 'a file that holds the token; - is standard input')
    .addOption(new Option('--make-token', 'make a token and print it').conflicts(['token', 'tokenFile']))
    .option('--secret <secret>', 'a signing secret (whsec_…), newest first; better in a file', list, [])
    .addOption(
      new Option('--secret-file <file>', 'a file that holds a signing secret; - is standard input')
        .argParser(list)
        .default([])
        .conflicts('secret'),
    )
    .addOption(
      new Option(
        '--make-secret [kind]',
        'make a signing secret and print it; ed25519: a pair, whose public key is listed',
      ).conflicts(['secret', 'secretFile']),
    )

const withHeaders = (made: Command): Command =>
  made
    .option(
      '--header <header>',
      "a header of every delivery, 'X-Api-Key: value'; repeatable, replaces all; better in a file",
      list,
      [],
    )
    .addOption(
      new Option('--header-file <file>', 'a file with such headers, one per line; - is standard input').conflicts('header'),
    )

/** The endpoint of a command; every one is enabled and disabled together, and none removed so. */
const withAll = (command: Command, name: string): Command =>
  name === 'remove'
    ? command.argument('<id>')
    : command
        .argument('[id]')
        .addOption(new Option('--all', 'every endpoint of the network, or of all networks').conflicts('preview'))

export function endpointCommands(program: Command, out: Output): void {
  const load = () => import('./endpoints/endpoints.ts')
  const endpoints = program.command('endpoints').description('webhook endpoints of a network; folkmoot-relay tests them')
  withHeaders(withAttributes(withSecrets(changing(onNetwork(endpoints.command('add')))), 'add'))
    .description(
      'register an endpoint, or change the one with this URL; omitted options stay, a new one gets every event in no order',
    )
    .action(async (flags) => (await load()).addEndpoint(flags, out))
  withHeaders(withAttributes(changing(onNetwork(endpoints.command('update').argument('<id>'))), 'update'))
    .description('change an endpoint; omitted options stay')
    .option('--token <token>', 'the token for a --url of another server, which gets no old token; better in a file')
    .option('--token-file <file>', 'a file that holds the token; - is standard input')
    .addOption(new Option('--remove-headers', 'remove all additional headers').conflicts(['header', 'headerFile']))
    .option('--unsigned', 'stop signing deliveries')
    .action(async (id: string, flags: Partial<EndpointFlags> & { readonly storage: string }) =>
      (await load()).updateEndpoint(id, { secret: [], secretFile: [], ...flags }, out),
    )
  onNetwork(endpoints.command('show').argument('<id>'))
    .description('show an endpoint, without token and secrets')
    .action(async (id: string, flags) => (await load()).showEndpoint(id, flags, out))
  onNetwork(endpoints.command('reveal').argument('<id>'))
    .description('show the token and the signing secrets of an endpoint; a line in the audit says so')
    .action(async (id: string, flags) => (await load()).revealEndpoint(id, flags, out))
  withSecrets(changing(onNetwork(endpoints.command('rotate').argument('<id>'))))
    .description('replace the signing secrets (by default), the token, or both; the old one stays valid for a time')
    .option('--keep-old <duration>', 'how long the old one stays valid: 24h by default; 30m, 7d, 0', seconds('--keep-old'))
    .action(async (id: string, flags: EndpointFlags) => (await load()).rotateEndpoint(id, flags, out))
  for (const [name, description] of [
    ['enable', 'resume sending to an endpoint'],
    ['disable', 'keep the events of an endpoint and send none'],
    ['remove', 'remove an endpoint'],
  ] as const)
    withAll(changing(onNetwork(endpoints.command(name))), name)
      .description(description)
      .action(async (id: string | undefined, flags) => (await load())[`${name}Endpoint`](id ?? '', flags, out))
  changing(onNetwork(endpoints.command('republish')))
    .description('put every endpoint into the outbox again, encrypted with the first encryption key if there is one')
    .action(async (flags) => (await load()).republishEndpoints(flags, out))
  wide(onNetwork(endpoints.command('list')))
    .description('list endpoints, without tokens and secrets')
    .action(async (flags) => (await load()).listEndpoints(flags, out))
}

const entries = (text: string): number => {
  const number = Number(text)
  if (/^\d{1,5}$/.test(text) && number >= 1 && number <= 10_000) return number
  throw new UsageError(`--limit must be a number from 1 to 10000, got ${JSON.stringify(text)}`)
}

export function auditCommands(program: Command, out: Output, draw?: (line: string) => void): void {
  const load = () => import('./audit.ts')
  const audit = program.command('audit').description('who changed keys, endpoints and networks; reading only')
  wide(onNetwork(audit.command('list')))
    .description('list changes, the newest first')
    .option('--actor <name>', 'only this person or program: cli:ada, host, …')
    .addOption(new Option('--action <name>', 'of this kind').choices(auditActions))
    .option('--subject <type:id>', 'only this record, such as endpoint:7')
    .addOption(moment('--from', 'from this time on, ISO 8601; a day begins in UTC'))
    .addOption(moment('--to', 'before this time, ISO 8601'))
    .option('--limit <number>', 'at most this many', entries, 50)
    .action(async (flags) => (await load()).listAudit(flags, out))
  onNetwork(audit.command('export'))
    .description('write every change as NDJSON, the oldest first')
    .requiredOption('--to <file>', 'a new file; - is standard output')
    .addOption(moment('--from', 'from this time on, ISO 8601; a day begins in UTC'))
    .action(async (flags) => (await load()).exportAudit(flags, out, draw))
}

export function exportCommand(program: Command, out: Output, draw?: (line: string) => void): void {
  const command = onNetwork(program.command('export'))
    .description('write members, posts or other records of a network as CSV or NDJSON')
    .addOption(new Option('--what <records>', 'what to write').choices(exportSubjects).makeOptionMandatory())
    .addOption(
      new Option('--format <name>', 'csv, or ndjson: one JSON object per line').choices(['csv', 'ndjson']).default('csv'),
    )
    .option('--from <file>', 'of members: a file with addresses or ids in place of filters; - is standard input')
    .option('--fields <names>', 'only these columns, in this order, with commas between them')
    .option('--to <file>', 'a new file; - is standard output', '-')
    .option('--true-addresses', 'the addresses that members have, not those that the API shows; the audit says so')
  for (const option of filterOptions('export')) command.addOption(option)
  command.action(async (flags) => (await import('./export.ts')).exportRecords(flags, out, draw))
}

export function triggerCommand(program: Command, out: Output): void {
  wide(changing(onNetwork(program.command('trigger').argument('[event]', 'PostCreated, MemberJoined, …'))))
    .description('deliver an event with example data to the endpoints of a network; no record is touched')
    .option('--field <path=value>', 'a value of the payload, such as member.first_name=Ada; repeatable', list, [])
    .option('--changed <fields>', 'of an update: the names of its changed fields, with commas between them')
    .option('--list', 'list every event')
    .action(async (name: string | undefined, flags) => (await import('./trigger.ts')).trigger(name, flags, out))
}

export function infoCommand(program: Command, out: Output, version: string): void {
  onStorage(program.command('info'))
    .description('print versions, the storage and the state of its relay, for a report of a fault; nothing secret')
    .action(async (flags) => (await import('./info.ts')).info(flags, version, out))
}

export function panelLinkCommand(program: Command, out: Output): void {
  onNetwork(program.command('panel-link'))
    .description('print a link that lets one person into the panel of a running server, once')
    .option('--port <number>', 'the port of the server, instead of its storage or control', port('--port'))
    .option('--read-only', 'the link shows everything and changes nothing')
    .option('--expires <duration>', 'how long the link works: 1h by default; 30m, 7d', seconds('--expires'))
    .action(async (flags, command: Command) => {
      // A port that was typed wins over the variable of the storage.
      const source = command.getOptionValueSource('storage')
      const anyStorage = source === 'default' || (source === 'env' && flags.port !== undefined)
      return (await import('./panel-link.ts')).panelLink({ ...flags, anyStorage }, out)
    })
}

export function initCommand(program: Command, out: Output, version: string, ask?: Ask): void {
  program
    .command('init')
    .description('write a small project into a new or empty folder: the API, its panel, its webhooks, and a test')
    .argument('[folder]')
    .option('--typescript', 'strict TypeScript, which Node runs as it is; JavaScript by default')
    .addOption(new Option('--no-typescript').hideHelp())
    .addOption(new Option('--host <name>', 'what serves it; node by default').choices(projectHosts))
    .addOption(new Option('--storage <name>', 'where its data is kept; sqlite by default').choices(projectStorages))
    .option('--title <text>', "the network's title")
    .option('--owner-name <name>', "its first host's name")
    .option('--owner-email <address>', "its first host's e-mail address")
    .option('--yes', 'take the defaults and ask nothing')
    .option('--json', 'print JSON for programs, and ask nothing')
    .action(async (folder: string | undefined, flags) => (await import('../init/init.ts')).init(folder, flags, version, out, ask))
}
