/**
 * Writes `docs/commands.md` and a page of each group of commands, as a part of `scripts/reference-pages.ts`: the commands of both
 * programs as they are declared.
 */
import type { Argument, Command, Option } from 'commander'
import { examplesOf, type ProgramName } from '../daemon/help.ts'
import { createProgram as createRelay } from '../daemon/relay/operate/commands/program.ts'
import { createProgram } from '../daemon/server/program.ts'
import { code, tableOf } from './markdown.ts'

const nothing = (): void => {}
const host = { json: false, version: '0.0.0', encryptionKeys: undefined, failed: nothing }

/** Both programs, without a process around them. */
const programs = (): readonly Command[] => [
  createProgram({ ...host, out: { line: nothing, warn: nothing }, starting: nothing }),
  createRelay({
    ...host,
    output: { write: nothing },
    progress: nothing,
    onSignal: nothing,
    serviceManager: { socket: undefined, watchdog: 0 },
  }),
]

/** Words of a help text as Markdown, which reads some characters in its own way. */
const prose = (text: string): string =>
  text
    .split('`')
    .map((part, place) =>
      place % 2 === 1 ? part : part.replace(/[*<>{}[\]]/g, '\\$&').replace(/\\([<>{}])/g, (_, sign) => entity(sign)),
    )
    .join('`')
    .replaceAll('|', '\\|')
const entity = (sign: string): string => `&#${sign.charCodeAt(0)};`
const sentence = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}${text.endsWith('.') ? '' : '.'}`

/** What a default is, if it says more than nothing. */
const defaultOf = ({ defaultValue, defaultValueDescription }: Option | Argument): readonly string[] => {
  if (defaultValueDescription !== undefined) return [`${prose(defaultValueDescription)} by default`]
  const isEmpty =
    defaultValue === undefined || defaultValue === false || (Array.isArray(defaultValue) && defaultValue.length === 0)
  return isEmpty ? [] : [`${code(String(defaultValue))} by default`]
}

function optionRow(option: Option): string {
  const { flags, description, mandatory, argChoices, envVar } = option
  const facts = [
    ...(mandatory ? ['**required**'] : []),
    ...(argChoices ? [`one of ${argChoices.map(code).join(', ')}`] : []),
    ...defaultOf(option),
    ...(envVar ? [`variable ${code(envVar)}`] : []),
  ]
  return `| ${code(flags)} | ${[prose(description), ...facts].join('; ')} |`
}

/** The rows of the options of a command. */
const optionRows = ({ options }: Command): readonly string[] => options.filter(({ hidden }) => !hidden).map(optionRow)

/** The commands without further ones below them. */
const leavesOf = (command: Command): readonly Command[] =>
  command.commands.length > 0 ? command.commands.flatMap(leavesOf) : [command]

const optionTable = (rows: readonly string[]): readonly string[] =>
  rows.length > 0 ? ['', '| option | meaning |', '|---|---|', ...rows] : []

/**
 * The section of a command, with those of the commands below it.
 * @param common the rows of the options that the page already has
 */
function section(command: Command, words: readonly string[], program: ProgramName, common: readonly string[]): readonly string[] {
  const name = words.join(' ')
  const given = command.registeredArguments.map((argument) => {
    const facts = [prose(argument.description), ...defaultOf(argument)].filter(Boolean)
    return `| ${code(argument.required ? `<${argument.name()}>` : `[${argument.name()}]`)} | ${facts.join('; ')} |`
  })
  const table = optionTable([...given, ...optionRows(command).filter((row) => !common.includes(row))])
  const about = [`${words.length > 2 ? '###' : '##'} ${name}`, '', sentence(prose(command.description()))]
  if (command.commands.length > 0)
    return [
      ...about,
      ...table,
      '',
      ...command.commands.flatMap((each) => section(each, [...words, each.name()], program, common)),
    ]
  const usage = ['```text', `${name} ${command.usage()}`.trim(), '```']
  const examples = ['Example:', '', '```sh', ...examplesOf(program, words.slice(1).join(' ')), '```']
  return [...about, '', ...usage, ...table, '', ...examples, '']
}

/** The row of a command, or those of the commands below it. */
function rowsOf(command: Command, words: readonly string[], page: string): readonly string[][] {
  if (command.commands.length > 0) return command.commands.flatMap((each) => rowsOf(each, [...words, each.name()], page))
  const link = `[${code(words.join(' '))}](commands/${page}.md#${words.join('-')})`
  return [[link, sentence(prose(command.description()))]]
}

/** The groups of the help of both programs: the name of the page of each, such as `relay-look`, its title and its commands. */
const groups = programs().flatMap((each) => {
  const program: ProgramName = each.name() === 'folkmoot' ? 'folkmoot' : 'folkmoot-relay'
  return [...Map.groupBy(each.commands, (command) => command.helpGroup().replace(':', ''))].map(([group, commands]) => {
    const words = group.toLowerCase().replaceAll(' ', '-')
    return { program, name: program === 'folkmoot' ? words : `relay-${words}`, title: `${program}: ${group}`, commands }
  })
})

const opening =
  '[Commands](../commands.md) lists the commands of both programs, their exit codes, and the variables that stand for options.'

/** A page of each group, by the name of the page. */
export const commandGroups = groups.map(({ name, title, program, commands }) => {
  const [first = [], ...others] = commands.flatMap(leavesOf).map(optionRows)
  const common = first.filter((row) => others.every((rows) => rows.includes(row)))
  const sections = commands.flatMap((command) => section(command, [program, command.name()], program, common))
  const shared = common.length > 0 ? ['Every command of this page takes these options:', ...optionTable(common), ''] : []
  return { name, title, page: () => `${[opening, '', ...shared, ...sections].join('\n').trimEnd()}\n` }
})

const introduction = `Every command of \`folkmoot\` and \`folkmoot-relay\`, in the groups of \`--help\`; the page of each group has their options. In a
project, write \`npx\` before a command. Every command also takes \`--help\`, and both programs take \`--version\`.

## What commands print

Tables of both programs fit the terminal and show relative times (\`12 s ago\`, \`in 5 min\`). In a pipe
or a file each row is one line, and nothing is cut. \`--wide\` shows every column in full, with times as
ISO 8601. In a terminal, states, errors and headings have colours, unless the variable \`NO_COLOR\` is set. Scripts use \`--json\`, which has one form in both programs:

| result | with \`--json\` |
|---|---|
| a list | one JSON object per line (NDJSON); an empty list prints nothing |
| a single thing | one JSON object on one line |
| an error | \`{"error": "…"}\` on standard error, and the exit code |

## Exit codes

| exit code | meaning |
|---|---|
| 0 | done |
| 1 | the command line is valid, but the command cannot do its work or reports a problem: no server is running, a network, key or endpoint does not exist, a port is taken, another server cannot be reached, a database is down, a disk is full, \`check\` has found a problem |
| 2 | something has to be changed first: an option, a variable, a setting, a file, a right. Also a storage or outbox that another process holds, a damaged file, and one of a later version |
| 130 | you pressed Ctrl-C or Ctrl-D at a prompt; nothing was done |

\`folkmoot diff\` exits as the program \`diff\` does: 1 for a difference, and 2 if a server cannot be
compared.

If standard output is a file on a full disk, a command exits with code 1. A key or secret that it made is then lost, so make
another one.

## Variables

Set a variable instead of an option, so that you need not repeat an address. A flag overrides its variable,
an empty variable counts as not set, and an error names the variable that it may come from:

| variable | instead of |
|---|---|
| \`FOLKMOOT_STORAGE\` | \`--storage\` of \`folkmoot\` |
| \`FOLKMOOT_SERVER\` | \`--server\` of \`folkmoot\`. A \`--storage\` on the command line overrides it |
| \`FOLKMOOT_NETWORK\` | \`--network\` of \`folkmoot\`, not of \`copy\`, which would leave networks out; \`--network-id\` of the relay, which takes the id alone. \`resend\` still needs another condition, or \`--all\` |
| \`FOLKMOOT_OUTBOX\` | \`--outbox\` of both programs. A storage that holds its own outbox takes its own address, too, and a \`--storage\` of that kind on the command line overrides the variable |
| \`FOLKMOOT_TOKEN\` | \`--token\` of \`folkmoot mcp\` and \`pull\`. A \`--token-file\` overrides it |
`

/** Every command of both programs in a sentence. */
export const commandsPage = (): string => {
  const tables = groups.map(({ name, title, program, commands }) => {
    const rows = commands.flatMap((command) => rowsOf(command, [program, command.name()], name))
    return `## ${title}\n\n${tableOf(['command', 'what it does'], rows)}\n`
  })
  return `${introduction}\n${tables.join('\n')}`
}
