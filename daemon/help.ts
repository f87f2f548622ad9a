/** The groups of both programs' help, and an example of each command. Neither program loads the other one for them. */
import type { Command } from 'commander'
import type { Paint } from './output.ts'

/** By group, the words of each command and what follows them in its example. A test parses all, and finds every command here. */
const groups = {
  folkmoot: {
    Start: {
      init: 'my-network',
      serve: '--demo --relay --allow-http',
      'panel-link': '--read-only --expires 30m',
      info: '--storage sqlite:./data/db.sqlite',
    },
    Administer: {
      'networks create': '--subdomain paint-pals --title "Paint Pals" --owner-email grace@example.org --owner-name "Grace Oak"',
      'networks list': '--json',
      'networks show': 'paint-pals',
      'networks update': 'paint-pals --title "Paint Friends"',
      'keys create': '--name CRM --scope members:read --expires 2027-01-01T00:00:00Z',
      'keys list': '--wide',
      'keys revoke': '7 --preview',
      'audit list': '--action key.created --from 2026-11-20',
      'audit export': '--to audit.ndjson',
    },
    People: {
      'members list': '--search grace --state active',
      'members import': 'people.csv --map "E-mail=email" --preview',
      'members bulk': 'tag Painters --from people.txt --preview',
      'members show': '1059',
      'members ban': '1059 --reason spam',
      'members remove': '1059 --cancel-plans',
      'members role': '1059 moderator',
      'members unban': '1059',
      'members erase': '1059 --preview',
      'members export': '1059 --to grace.ndjson',
      'members consent': '--email grace@example.org',
      'tags list': '--unused',
      'tags create': 'Painters --color "#336699"',
      'tags merge': '7 8 --preview',
      'reports list': '--closed',
      'reports close': '7 delete_content',
    },
    Webhooks: {
      'endpoints add': '--url https://example.org/webhooks --make-token --make-secret',
      'endpoints update': '7 --event PostCreated --event MemberJoined',
      'endpoints show': '7',
      'endpoints reveal': '7',
      'endpoints rotate': '7 --keep-old 7d',
      'endpoints enable': '--all',
      'endpoints disable': '7',
      'endpoints remove': '7 --preview',
      'endpoints republish': '--network paint-pals',
      'endpoints list': '--wide',
      trigger: 'PostCreated --field title=Hello',
      listen: '--forward-to http://localhost:3000/webhooks',
    },
    Data: {
      backup: 'backup.tar --storage sqlite:./data/db.sqlite',
      restore: 'backup.tar --storage sqlite:./restored/db.sqlite',
      export: '--what members --to members.csv',
      copy: '--from lowdb:./data/db.json --to sqlite:./data/db.sqlite',
      migrate: '--storage sqlite:./data/db.sqlite --dry-run',
      pull: '--from https://api.example.org --network paint-pals --token-file token --to sqlite:./data/db.sqlite',
      diff: '--a https://old.example.org --b https://api.example.org --network paint-pals --a-token-file a --b-token-file b',
    },
    'For programs': {
      mcp: '--url https://api.example.org --network paint-pals --token-file token --write posts',
      spec: '--webhooks',
    },
  },
  'folkmoot-relay': {
    Run: {
      run: '--outbox sqlite:./data/db.sqlite --control-port 9464',
      check: '--outbox ./data/outbox --config relay.json',
      config: '--config relay.json --wide',
    },
    Look: {
      status: '--outbox sqlite:./data/db.sqlite',
      deliveries: '--subject member:1059 --limit 20',
      dead: '--endpoint-id 7 --json',
      explain: '--endpoint-id 7 --event-id 01930b2e-5b6f-7d44-9a39-6b1f6c1c2a10',
    },
    Act: {
      resend: '--endpoint-id 7 --since 2026-11-20T00:00:00Z --per-second 5',
      skip: '--endpoint-id 7 --limit 1',
      'close-circuit': '--endpoint-id 7',
      'endpoints test': '--endpoint-id 7',
    },
  },
} as const satisfies Record<string, Record<string, Readonly<Record<string, string>>>>

export type ProgramName = keyof typeof groups

export const commandsOf = (name: ProgramName): readonly string[] =>
  Object.values(groups[name]).flatMap((each) => Object.keys(each))

/** The examples of a command, those of a program or of a group of commands being the first ones of their commands. */
export const examplesOf = (name: ProgramName, words: string): readonly string[] =>
  Object.values(groups[name])
    .flatMap((each) => Object.entries(each))
    .filter(([command]) => words === '' || command === words || command.startsWith(`${words} `))
    .slice(0, 3)
    .map(([command, rest]) => `${name} ${command} ${rest}`)

/** Puts the commands of a program into groups, and adds the examples to the help of each. */
export function groupHelp(program: Command, name: ProgramName, paint: Paint): void {
  const add = (command: Command, words: string): void => {
    command.addHelpText('after', () => `\n${paint('bold', 'Examples:')}\n  ${examplesOf(name, words).join('\n  ')}`)
    for (const each of command.commands) add(each, `${words} ${each.name()}`.trim())
  }
  add(program, '')
  for (const [group, commands] of Object.entries(groups[name]))
    for (const words of Object.keys(commands))
      program.commands.find((each) => each.name() === words.split(' ')[0])?.helpGroup(`${group}:`)
}
