/**
 * Writes the fold-outs "Whole file" into pages: `npx node scripts/whole-files.ts`. A block that goes on from earlier ones of its page
 * is shown there with what it needs of them, so that it can be pasted alone.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** What stands before a page's blocks. */
interface Setup {
  readonly code: string
  /** The number of the page's first blocks that it stands for. */
  readonly replaces: number
}

const community = `import { createCommunity } from 'folkmoot'
import { sqliteStorage } from 'folkmoot/storage/sqlite'

const storage = await sqliteStorage({ path: './community.sqlite' })
const community = createCommunity({ storage, allowHttp: true })
const person = { email: 'ada@example.org', first_name: 'Ada', last_name: 'Ash' }
`
const ofNetworkOne = `${community}if (!(await community.networks.find('1')))
  await community.networks.create({ id: '1', subdomain: 'paint-pals', title: 'Paint Pals', owner: person })
`

const ofPaintPals = `${community}if (!(await community.networks.find('paint-pals')))
  await community.networks.create({ subdomain: 'paint-pals', title: 'Paint Pals', member_email_visibility: true, owner: person })
const network = await community.networks.show('paint-pals')
const [owner] = (await community.members.list('paint-pals', { q: person.email })).items
const { token } = await community.keys.create({ network: network.id, name: 'Connector', scopes: ['*'] })
`

/** The pages, by their paths in `docs/`. */
export const setups: Readonly<Record<string, Setup>> = {
  embedding: { code: ofPaintPals, replaces: 2 },
  'embedding/events': { code: ofPaintPals, replaces: 0 },
  'embedding/keys': { code: ofPaintPals, replaces: 0 },
  'embedding/limits': { code: ofPaintPals, replaces: 0 },
  'embedding/members': { code: ofPaintPals, replaces: 0 },
  'embedding/previews': { code: ofPaintPals, replaces: 0 },
  'embedding/ports': { code: ofPaintPals, replaces: 0 },
  client: {
    code: `const baseUrl = 'https://api.example.org'
const token = process.env.TOKEN
`,
    replaces: 0,
  },
  panel: { code: '', replaces: 0 },
  'webhooks/channels': { code: ofNetworkOne, replaces: 0 },
  'webhooks/register': { code: ofNetworkOne, replaces: 0 },
  'webhooks/verify': {
    code: `${ofNetworkOne}await community.endpoints.upsert({ network: '1', url: 'https://example.org/webhooks', token: true, secrets: true })
`,
    replaces: 0,
  },
}

/** More than this, and the page itself is the better place to read. */
const mostLines = 60

interface Statement {
  readonly text: string
  readonly declares: readonly string[]
  readonly isImport: boolean
}

const namesIn = (text: string): readonly string[] => [...text.matchAll(/[A-Za-z_$][\w$]*/g)].map(([name]) => name)

/** The names that a statement declares: of \`{ a: b, c }\` those are \`b\` and \`c\`. */
function declared(text: string): readonly string[] {
  const imported = /^import (.*) from/.exec(text)?.[1]
  if (imported !== undefined) return namesIn(imported.replace(/\w+ as /g, ''))
  const [, pattern = ''] = /^(?:export )?(?:const|let) (\{[^}]*\}|\[[^\]]*\]|\w+)/.exec(text) ?? []
  const [, name] = /^(?:export )?(?:async )?function (\w+)/.exec(text) ?? []
  return name === undefined ? namesIn(pattern.replace(/\w+: /g, '')) : [name]
}

/** The names that a statement uses from outside, and perhaps a few more: words in texts count too. */
function used(text: string): ReadonlySet<string> {
  const within = [...text.matchAll(/\b(?:const|let) (\{[^}]*\}|\[[^\]]*\]|\w+)/g)].flatMap(([, pattern = '']) => namesIn(pattern))
  const names = [...text.matchAll(/(?<![\w$.'-]|\/)[A-Za-z_$][\w$]*(?!\w|:)/g)].map(([name]) => name)
  return new Set(names.filter((name) => !within.includes(name)))
}

/** One import of each module, with the names that the code uses. */
function importsFor(statements: readonly Statement[], code: string): readonly string[] {
  const names = new Map<string, Set<string>>()
  const whole = new Set<string>()
  const words = used(code)
  for (const { text, declares } of statements.filter(({ isImport }) => isImport)) {
    const [, listed, module] = /^import \{ (.*) \} from '(.*)'$/.exec(text) ?? []
    if (!declares.some((name) => words.has(name))) continue
    if (listed === undefined || module === undefined) whole.add(text)
    else names.set(module, new Set([...(names.get(module) ?? []), ...listed.split(', ').filter((name) => words.has(name))]))
  }
  const lists = [...names].map(([module, those]) => `import { ${[...those].toSorted().join(', ')} } from '${module}'`)
  return [...whole, ...lists].toSorted((one, other) => (afterFrom(one) < afterFrom(other) ? -1 : 1))
}

const afterFrom = (line: string): string => line.slice(line.indexOf(' from '))

/** Code in its statements at the left margin. */
function statementsOf(code: string): readonly Statement[] {
  const texts: string[] = []
  for (const line of code.trimEnd().split('\n')) {
    const last = texts.at(-1)
    const goesOn = /^[\s})\]]/.test(line) || line === '' || last?.startsWith('//')
    if (last !== undefined && goesOn) texts[texts.length - 1] = `${last}\n${line}`
    else texts.push(line)
  }
  return texts.map((text) => {
    const bare = text.replace(/^(?:\/\/.*\n)+/, '')
    return { text: text.trimEnd(), declares: declared(bare), isImport: bare.startsWith('import ') }
  })
}

const fence = /^```js\n(.*?)^```$/gms
/** What an earlier run has written. */
const foldOut = /\n\n<details>\n<summary>Whole file<\/summary>\n\n```js whole\n(.*?)^```\n\n<\/details>$/gms

export const blocksOf = (page: string): readonly string[] => [...page.matchAll(fence)].map(([, code = '']) => code)
export const wholeFilesOf = (page: string): readonly string[] => [...page.matchAll(foldOut)].map(([, code = '']) => code)

/** A block with what it needs from those before it; `undefined` if it needs nothing, or more than a fold-out shows. */
function wholeFile(blocks: readonly string[], place: number, { code: begin, replaces }: Setup): string | undefined {
  const setup = statementsOf(begin)
  const before = [...setup, ...blocks.slice(replaces, place).flatMap(statementsOf)]
  const own = statementsOf(blocks[place] ?? '')
  if (place < replaces) return undefined
  const needed = new Set<Statement>()
  const need = (statements: readonly Statement[], earlier: readonly Statement[]): void => {
    statements.forEach((statement, index) => {
      if (statement.isImport) return
      const known = [...earlier, ...statements.slice(0, index), ...statements.filter(({ isImport }) => isImport)]
      for (const name of used(statement.text)) {
        if (statement.declares.includes(name)) continue
        const from = known.findLast(({ declares }) => declares.includes(name))
        if (!from || own.includes(from) || needed.has(from)) continue
        needed.add(from)
        need([from], earlier.slice(0, earlier.indexOf(from)))
      }
    })
  }
  need(own, before)
  if (needed.size === 0) return undefined
  // What the setup does without a name, such as making the network, belongs to what it names, also in quotes.
  const quoted = (text: string): readonly string[] => text.match(/'[^']+'/g) ?? []
  const texts = quoted(blocks[place] ?? '')
  const isNeeded = (name: string): boolean =>
    setup.some((each) => needed.has(each) && !each.isImport && each.declares.includes(name))
  for (const statement of setup)
    if (
      statement.declares.length === 0 &&
      ([...used(statement.text)].some(isNeeded) || quoted(statement.text).some((text) => texts.includes(text)))
    ) {
      needed.add(statement)
      need([statement], setup)
    }
  const earlier = before.filter((statement) => needed.has(statement) && !statement.isImport).map(({ text }) => text)
  const body = (blocks[place] ?? '').replace(/^import .*\n/gm, '').trim()
  const code = [earlier.join('\n'), body].filter((part) => part !== '').join('\n\n')
  const whole = `${importsFor([...before, ...own], code).join('\n')}\n\n${code}\n`
  return whole.split('\n').length > mostLines ? undefined : whole
}

/** The page with its fold-outs as they should be now. */
export function withWholeFiles(page: string, setup: Setup): string {
  const plain = page.replace(foldOut, '')
  const blocks = blocksOf(plain)
  let place = -1
  return plain.replace(fence, (block) => {
    place++
    const whole = wholeFile(blocks, place, setup)
    if (whole === undefined) return block
    return `${block}\n\n<details>\n<summary>Whole file</summary>\n\n\`\`\`js whole\n${whole}\`\`\`\n\n</details>`
  })
}

export const pathOf = (name: string): string => fileURLToPath(new URL(`../docs/${name}.md`, import.meta.url))

if (import.meta.main)
  for (const [name, setup] of Object.entries(setups))
    writeFileSync(pathOf(name), withWholeFiles(readFileSync(pathOf(name), 'utf8'), setup))
