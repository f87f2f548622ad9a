/** `skills/folkmoot/SKILL.md`: what an agent that writes programs reads first, made from README and the pages of the documentation. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import process from 'node:process'
import { aboutPage, plain } from '../docs/site/about.ts'

const root = join(import.meta.dirname, '..')
const read = (path: string): string => readFileSync(join(root, path), 'utf8')

export const skillPath = 'skills/folkmoot/SKILL.md'

/** The pages that a program is written from, in the order in which they are needed. */
const pages = [
  ...['embedding', 'hosts', 'options', 'storage', 'host-transactions', 'embedding/keys', 'embedding/members', 'embedding/events'],
  ...['webhooks/register', 'webhooks/receive', 'receiver', 'client', 'testing', 'panel', 'operating', 'agents', 'errors', 'gaps'],
]

/** The title of a page, and the first sentence below it. */
function about(page: string): string {
  const { title, sentence } = aboutPage(read(`docs/${page}.md`))
  return `| \`docs/${page}.md\` | ${title}: ${sentence.replaceAll('|', '\\|')} |`
}

/** The file as it should be. */
export function skill(): string {
  // The site includes its regions.
  const readme = read('README.md').replace(/^<!-- #(?:end)?region .*-->$/gm, '')
  const [, intro = ''] = /^# folkmoot\n+(.*?)\n\n/s.exec(readme) ?? []
  const [begin = ''] = /Then save this as `server.mjs`.*?(?=\n## |\n*$)/s.exec(readme) ?? []
  const [programs = ''] = /Then save this as.*?```sh\n.*?```/s.exec(begin) ?? []
  const [rules = ''] = /^- \*\*Before body parsers.*?(?=\n\n)/ms.exec(read('docs/hosts.md')) ?? []
  return `---
name: folkmoot
description: Writes programs with the npm package folkmoot, the Admin API of a community network (members, spaces, posts, events, plans) with signed webhooks. Use it to mount the API in a server, to register or receive its webhooks, to call it with its client, to test such programs, or to run its relay.
---

<!-- Made by scripts/skill.ts from README.md and docs/: change those, and run \`npx node scripts/skill.ts\`. -->

# folkmoot

${plain(intro)}

${programs.replace('Then save', 'Save').replace(/\[([^\]]+)\]\([^)]*\)/g, '$1')}

## In every program

${rules.replace(/\[([^\]]+)\]\(([^)#]*)[^)]*\)/g, '$1')}
- **Errors name the remedy.** Read the whole sentence of an \`ApiError\` or a \`TypeError\`: it lists every problem at once.
- **Declarations are the reference.** Every call and option has its units, defaults and errors in the types of the package.

## Where to read more

The pages are in the package, below \`node_modules/folkmoot/\`. \`npx folkmoot --help\` lists the commands.

| page | about |
|---|---|
${pages.map(about).join('\n')}
`
}

if (import.meta.filename === process.argv[1]) {
  const path = join(root, skillPath)
  if (!existsSync(dirname(path))) mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, skill())
}
