/** The direction of imports and what each part of the tree may touch (design: the house). */
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

interface Source {
  /** Below the root of the repository, with slashes. */
  readonly path: string
  readonly text: string
}

interface Rule {
  readonly sentence: string
  /** Each offence in a file, unchanged. */
  offences(source: Source): readonly string[]
}

const root = fileURLToPath(new URL('../..', import.meta.url))
const sources: readonly Source[] = ['lib', 'adapters', 'daemon'].flatMap((part) =>
  readdirSync(join(root, part), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => join(part, name))
    .map((path) => ({ path: path.split(sep).join('/'), text: readFileSync(join(root, path), 'utf8') })),
)

/** The text without comments, so that a comment may name what code may not. */
const code = (text: string): string => text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/(^|[^:'"`])\/\/.*$/gm, '$1')

/** The imports of a file: a path below the root for its neighbours, the name of anything else. */
function imports({ path, text }: Source): readonly string[] {
  const specifiers = code(text).matchAll(/(?:\bfrom\s*|^import\s*|\bimport\s*\(\s*|\brequire\s*\(\s*)['"]([^'"]+)['"]/gm)
  return [...specifiers].map(([, specifier = '']) =>
    specifier.startsWith('.')
      ? normalize(join(dirname(path), specifier))
          .split(sep)
          .join('/')
      : specifier,
  )
}

const importing =
  (inside: RegExp, forbidden: (imported: string, path: string) => boolean): Rule['offences'] =>
  (source) =>
    inside.test(source.path) ? imports(source).filter((imported) => forbidden(imported, source.path)) : []

const mentioning =
  (inside: RegExp, outside: RegExp, forbidden: RegExp): Rule['offences'] =>
  ({ path, text }) =>
    inside.test(path) && !outside.test(path) ? (code(text).match(forbidden) ?? []) : []

const nowhere = /(?!)/
const isIn = (...parts: readonly string[]): ((imported: string) => boolean) => {
  return (imported) => parts.some((part) => imported.startsWith(`${part}/`))
}

const rules: Readonly<Record<string, Rule>> = {
  lib: {
    sentence:
      'lib imports itself, valibot and itty-router, and nothing else; lib/testing vitest too, and one file each what takes HTML apart, reads CSV, and hono/html',
    offences: importing(/^lib\//, (imported, path) => {
      const allowed = [
        'valibot',
        'itty-router/IttyRouter',
        ...(path.startsWith('lib/testing/') ? ['vitest'] : []),
        ...(path === 'lib/rules/html-tokens.ts' ? ['htmlparser2', 'character-entities-html4'] : []),
        ...(path === 'lib/csv/table.ts' ? ['papaparse'] : []),
        ...(path === 'lib/panel/ui/html.ts' ? ['hono/html'] : []),
      ]
      return !imported.startsWith('lib/') && !allowed.includes(imported)
    }),
  },
  adapters: {
    sentence: 'adapters import lib and each other, never the daemon or a test',
    offences: importing(/^adapters\//, isIn('daemon', 'test', 'scripts', 'bench')),
  },
  'the floor of the adapters': {
    sentence: 'what adapters share depends on none of them: files first, then SQL',
    offences: importing(/^adapters\/(?:files|sql)\//, (imported, path) => {
      const allowed = [
        'adapters/node-version.ts',
        'adapters/optional-package.ts',
        'adapters/files/',
        ...(path.startsWith('adapters/sql/') ? ['adapters/sql/'] : []),
      ]
      return imported.startsWith('adapters/') && !allowed.some((start) => imported.startsWith(start))
    }),
  },
  'adapters and resources': {
    sentence: 'an adapter names no resource',
    offences: importing(/^adapters\//, isIn('lib/resources', 'lib/records', 'lib/rules')),
  },
  daemon: {
    sentence: 'the daemon imports adapters and lib, never a test',
    offences: importing(/^daemon\//, isIn('test', 'scripts', 'bench')),
  },
  relay: {
    sentence: 'the relay imports no server: it runs without one',
    offences: importing(/^daemon\/relay\//, isIn('daemon/server', 'daemon/bin')),
  },
  resources: {
    sentence: 'resource files never import each other',
    offences: importing(/^lib\/resources\//, isIn('lib/resources')),
  },
  'rules and records': {
    sentence: 'shared rules import no resource',
    offences: importing(/^lib\/(?:rules|records|storage|kernel|http|events|outbox)\//, isIn('lib/resources')),
  },
  'http in resources': {
    sentence: 'resources do not depend on HTTP beyond their declaration',
    offences: importing(/^lib\/resources\//, isIn('lib/http', 'lib/kernel')),
  },
  // Its own number, the platform and the versions are facts, and a tick is a moment, not handles. The outbox asks with
  // signal 0 whether another process lives. The text of a new project is another program.
  process: {
    sentence: 'only daemon/bin touches `process`, and the figures of the process read it',
    offences: mentioning(
      /^(?:lib|adapters|daemon)\//,
      /^daemon\/bin\/|^adapters\/files\/owner\.ts$|^daemon\/server\/operate\/process-metrics\.ts$|^daemon\/server\/init\/server-file\.ts$/,
      /(?<![\w.$])process\s*\.\s*\w+|^import (?!\{ (?:(?:constrainedMemory|nextTick|pid|platform|versions)(?:, )?)+ \} ).*(?=from 'node:process')/gm,
    ),
  },
  'node:sqlite': {
    sentence: 'one file loads it, after the version of Node was looked at; old-node.ts tries what it can do',
    offences: mentioning(
      /^(?:adapters|daemon)\//,
      /^adapters\/sql\/sqlite\/module\.ts$/,
      /^import (?!type\b).* from 'node:sqlite'/gm,
    ),
  },
  'web globals': {
    sentence: 'lib runs wherever the web standards do',
    offences: mentioning(/^lib\//, nowhere, /(?<![\w.$'"`])(?:Buffer|__dirname|__filename|require|globalThis\.process)\b(?!:)/g),
  },
  time: {
    sentence: 'lib takes time and chance from the clock and from chance, so that tests can hold them',
    offences: mentioning(
      /^lib\//,
      // The client waits between its tries and stands alone. The storage suite waits for storages that other people wrote.
      // Nonces of encryption and numbers of commits never repeat, not even in a test.
      // The script of the panel is a text that a browser runs. A time-out bounds functions that hosts and adapters have given.
      // A refused body that continues is bounded in the time of its connection.
      /^lib\/(?:base\/(?:clock|chance|timeout)\.ts$|client\/|testing\/|http\/exchange\.ts$|outbox\/(?:encryption|line)\.ts$|panel\/ui\/script\.ts$)/,
      /\bDate\.now\b|\bnew Date\(\s*\)|(?<!\bnew )\bDate\(|\bset(?:Timeout|Interval|Immediate)\b|\bMath\.random\b|\bcrypto\.(?:randomUUID|getRandomValues)\b|\bperformance\.now\b/g,
    ),
  },
  addresses: {
    sentence: 'URL.parse reads them: on Node 22, compiled code of URL.canParse refuses letters beyond ASCII',
    offences: mentioning(/^(?:lib|adapters|daemon)\//, nowhere, /\bcanParse\b/g),
  },
  'optional packages': {
    sentence: 'a bundler that sees the name of a package asks for it when it builds',
    offences: mentioning(/^(?:lib|adapters)\//, nowhere, /\bimport\.meta\.resolve\(['"`][^)]*\)/g),
  },
  undici: {
    sentence: 'undici is imported by its file, because Bun has a module of its own for the name, which ignores dispatchers',
    offences: ({ path, text }) =>
      /^(?:lib|adapters|daemon)\//.test(path) ? (code(text).match(/(?:from|import\() ?['"]undici['"]/g) ?? []) : [],
  },
  'the router': {
    sentence: 'itty-router stays behind the route table',
    offences: (source) =>
      source.path === 'lib/http/routes.ts' ? [] : imports(source).filter((imported) => imported.startsWith('itty-router')),
  },
  "the router's types": {
    sentence: 'no exported signature of the route table names a type of itty-router',
    offences: ({ path, text }) =>
      path === 'lib/http/routes.ts' ? (code(text).match(/^export [^{]*\b(?:Itty|I?Request|RouterType)\w*/gm) ?? []) : [],
  },
  'default exports': {
    sentence: 'everything is exported under its name',
    offences: mentioning(/^(?:lib|adapters|daemon)\//, nowhere, /^export default\b/gm),
  },
}

const contributing = readFileSync(join(root, 'CONTRIBUTING.md'), 'utf8')

/**
 * The rooms of a part as CONTRIBUTING.md lists them, those at the bottom first: folders, and files beside them. The list
 * names a room within a room by itself.
 * @param part its folder, below the root
 * @param fence the name of the list
 */
function roomsOf(part: string, fence: string) {
  const [, text = ''] = new RegExp(`^\`\`\`${fence}\n([\\s\\S]*?)^\`\`\`$`, 'm').exec(contributing) ?? []
  const listed = text.trim().split(/\s+/)
  const isWithin = (path: string): boolean => path.startsWith(`${part}/`)
  const roomOf = (path: string): string => {
    const names = path
      .slice(part.length + 1)
      .replace(/\.ts$/, '')
      .split('/')
    const rooms = names.map((_, place) => names.slice(0, place + 1).join('/'))
    return rooms.findLast((room) => listed.includes(room)) ?? names[0] ?? ''
  }
  return {
    part,
    listed,
    files: sources.filter(({ path }) => isWithin(path)),
    roomOf,
    /** The imports of a file, types included, out of a room that the list has after its own. */
    upward(source: Source): readonly string[] {
      const own = roomOf(source.path)
      return imports(source).filter((imported) => {
        const room = roomOf(imported)
        return isWithin(imported) && room !== own && !listed.slice(0, listed.indexOf(own)).includes(room)
      })
    },
  }
}

const rooms = { lib: roomsOf('lib', 'rooms'), relay: roomsOf('daemon/relay', 'relay-rooms') }

test.each(Object.values(rooms))(
  'every folder and file of $part has its place in the order of CONTRIBUTING.md',
  ({ files, listed, roomOf }) => {
    expect([...new Set(files.map(({ path }) => roomOf(path)))].sort()).toEqual([...listed].sort())
  },
)

test.each(Object.values(rooms))('rooms of $part import one way, types included', ({ files, upward }) => {
  expect(files.flatMap((source) => upward(source).map((imported) => `${source.path}: ${imported}`))).toEqual([])
})

test.each([
  [rooms.lib, 'lib/storage/scoped.ts', "import { page } from '../kernel/page.ts'", ['lib/kernel/page.ts']],
  [rooms.lib, 'lib/records/member.ts', "import type { Emitter } from '../call.ts'", ['lib/call.ts']],
  [rooms.lib, 'lib/context.ts', "import type { Settings } from './settings.ts'", ['lib/settings.ts']],
  [rooms.lib, 'lib/kernel/transactions.ts', "import { gone } from '../nowhere/gone.ts'", ['lib/nowhere/gone.ts']],
  [rooms.lib, 'lib/panel/ui/parts.ts', "import type { View } from '../route.ts'", ['lib/panel/route.ts']],
  [rooms.lib, 'lib/http/serve.ts', "import { page } from '../kernel/page.ts'\nimport { below } from './https.ts'", []],
  [
    rooms.relay,
    'daemon/relay/store/store.ts',
    "import type { Circuit } from '../schedule/endpoint/circuit.ts'",
    ['daemon/relay/schedule/endpoint/circuit.ts'],
  ],
  [
    rooms.relay,
    'daemon/relay/store/store.ts',
    "import { open } from './sqlite/store.ts'",
    ['daemon/relay/store/sqlite/store.ts'],
  ],
  [
    rooms.relay,
    'daemon/relay/send/sender.ts',
    "import { tick } from '../schedule/tick/tick.ts'",
    ['daemon/relay/schedule/tick/tick.ts'],
  ],
  [rooms.relay, 'daemon/relay/relay.ts', "import { startLog } from './operate/log.ts'", ['daemon/relay/operate/log.ts']],
  [
    rooms.relay,
    'daemon/relay/schedule/endpoint/attempt-health.ts',
    "import type { Tick } from '../tick/tick.ts'",
    ['daemon/relay/schedule/tick/tick.ts'],
  ],
  [rooms.relay, 'daemon/relay/store/sqlite/store.ts', "import type { RelayStore } from '../store.ts'", []],
])('the order of rooms of $part finds in %s: %j: %j', ({ upward }, path, text, offences) => {
  expect(upward({ path, text })).toEqual(offences)
})

/** Files that import each other in a circle, types included. */
function circles(files: readonly Source[]): readonly string[] {
  const imported = new Map(files.map((source) => [source.path, imports(source)]))
  const done = new Set<string>()
  const found: string[] = []
  const visit = (path: string, way: readonly string[]): void => {
    if (way.includes(path)) found.push([...way.slice(way.indexOf(path)), path].join(' → '))
    if (done.has(path)) return
    done.add(path)
    for (const next of imported.get(path) ?? []) visit(next, [...way, path])
  }
  for (const { path } of files) visit(path, [])
  return found
}

test('no files import each other in a circle, types included', () => {
  expect(circles(sources)).toEqual([])
})

test('a circle of three files is found', () => {
  const circle = [
    { path: 'lib/a.ts', text: "import type { B } from './b.ts'" },
    { path: 'lib/b.ts', text: "export type { C } from './c.ts'" },
    { path: 'lib/c.ts', text: "import { a } from './a.ts'" },
  ]
  expect(circles(circle)).toEqual(['lib/a.ts → lib/b.ts → lib/c.ts → lib/a.ts'])
})

test.each(Object.entries(rules).map(([name, rule]) => ({ name, ...rule })))('$name: $sentence', ({ offences }) => {
  expect(sources.flatMap((source) => offences(source).map((offence) => `${source.path}: ${offence}`))).toEqual([])
})

test('the rules look at every file of the tree', () => {
  for (const path of ['lib/index.ts', 'lib/resources/tags.ts', 'adapters/storage/memory.ts'])
    expect(sources.map((source) => source.path)).toContain(path)
  expect(
    imports({ path: 'lib/resources/tags.ts', text: sources.find(({ path }) => path === 'lib/resources/tags.ts')?.text ?? '' }),
  ).toContain('lib/operation.ts')
})

/** A made-up file for each rule, and what the rule has to say of it. */
const bad: readonly (readonly [rule: string, path: string, text: string, offence: string])[] = [
  ['lib', 'lib/resources/tags.ts', "import { readFile } from 'node:fs/promises'", 'node:fs/promises'],
  ['lib', 'lib/rules/dates.ts', "import { addDays } from 'date-fns'", 'date-fns'],
  ['lib', 'lib/http/routes.ts', "import { Router } from 'itty-router'", 'itty-router'],
  ['lib', 'lib/panel/layout/layout.ts', "import { html } from 'hono/html'", 'hono/html'],
  ['lib', 'lib/community.ts', "import { memoryStorage } from '../adapters/storage/memory.ts'", 'adapters/storage/memory.ts'],
  ['lib', 'lib/kernel/transactions.ts', "import { test } from 'vitest'", 'vitest'],
  ['lib', 'lib/kernel/transactions.ts', "const fs = await import('node:fs')", 'node:fs'],
  ['lib', 'lib/kernel/transactions.ts', "import 'node:fs'", 'node:fs'],
  ['lib', 'lib/kernel/transactions.ts', "import {\n  a,\n  b,\n} from 'left-pad'", 'left-pad'],
  ['lib', 'lib/index.ts', "export { serve } from '../daemon/server/serve.ts'", 'daemon/server/serve.ts'],
  ['lib', 'lib/index.ts', "import type { Server } from 'node:http'", 'node:http'],
  ['adapters', 'adapters/http/node.ts', "import { relay } from '../../daemon/relay/relay.ts'", 'daemon/relay/relay.ts'],
  [
    'the floor of the adapters',
    'adapters/files/lock-file.ts',
    "import { openOutbox } from '../outbox/writer.ts'",
    'adapters/outbox/writer.ts',
  ],
  [
    'the floor of the adapters',
    'adapters/sql/schema.ts',
    "import { openSession } from '../storage/sql/session.ts'",
    'adapters/storage/sql/session.ts',
  ],
  [
    'adapters and resources',
    'adapters/http/node.ts',
    "import { listTags } from '../../lib/resources/tags.ts'",
    'lib/resources/tags.ts',
  ],
  ['daemon', 'daemon/relay/relay.ts', "import { clock } from '../../test/support/clock.ts'", 'test/support/clock.ts'],
  ['relay', 'daemon/relay/operate/log.ts', "import { demo } from '../../server/demo/start.ts'", 'daemon/server/demo/start.ts'],
  ['resources', 'lib/resources/tags.ts', "import { listBadges } from './badges.ts'", 'lib/resources/badges.ts'],
  ['rules and records', 'lib/rules/segments.ts', "import { Tag } from '../resources/tags.ts'", 'lib/resources/tags.ts'],
  ['http in resources', 'lib/resources/tags.ts', "import { server } from '../http/serve.ts'", 'lib/http/serve.ts'],
  ['process', 'adapters/storage/lowdb.ts', 'const pid = process.pid', 'process.pid'],
  ['process', 'daemon/relay/relay.ts', "process.on('SIGTERM', stop)", 'process.on'],
  ['process', 'daemon/server/serve.ts', "import process from 'node:process'", 'import process '],
  ['process', 'daemon/server/serve.ts', "import { exit, pid } from 'node:process'", 'import { exit, pid } '],
  [
    'node:sqlite',
    'adapters/sql/sqlite/migrate.ts',
    "import { DatabaseSync } from 'node:sqlite'",
    "import { DatabaseSync } from 'node:sqlite'",
  ],
  ['web globals', 'lib/base/token.ts', "const bytes = Buffer.from('x')", 'Buffer'],
  ['web globals', 'lib/base/token.ts', "const fs = require('fs')", 'require'],
  ['time', 'lib/resources/tags.ts', 'const now = Date.now()', 'Date.now'],
  ['time', 'lib/resources/tags.ts', 'const now = new Date()', 'new Date()'],
  ['time', 'lib/resources/tags.ts', 'const now = Date()', 'Date('],
  ['time', 'lib/kernel/transactions.ts', 'setTimeout(retry, 5)', 'setTimeout'],
  ['time', 'lib/kernel/transactions.ts', 'const jitter = Math.random()', 'Math.random'],
  ['time', 'lib/http/serve.ts', 'const id = crypto.randomUUID()', 'crypto.randomUUID'],
  ['time', 'lib/http/serve.ts', 'const started = performance.now()', 'performance.now'],
  ['the router', 'lib/http/serve.ts', "import { IttyRouter } from 'itty-router/IttyRouter'", 'itty-router/IttyRouter'],
  [
    "the router's types",
    'lib/http/routes.ts',
    'export const router: IttyRouterType = make()',
    'export const router: IttyRouterType',
  ],
  ['addresses', 'lib/resources/tags.ts', 'if (URL.canParse(url)) return', 'canParse'],
  ['undici', 'daemon/relay/send/http-post.ts', "import { Pool } from 'undici'", "from 'undici'"],
  ['optional packages', 'adapters/http/scalar.ts', "import.meta.resolve('@scalar/x')", "import.meta.resolve('@scalar/x')"],
  ['default exports', 'lib/resources/tags.ts', 'export default {}', 'export default'],
]

test.each(bad)('%s bites on %s with %j', (name, path, text, offence) => {
  expect(rules[name]?.offences({ path, text })).toEqual([offence])
})

test('every rule is shown to bite', () => {
  expect(Object.keys(rules).filter((name) => !bad.some(([rule]) => rule === name))).toEqual([])
})

test.each([
  ['lib/resources/tags.ts', "import * as v from 'valibot'\nimport { operation } from '../operation.ts'"],
  ['lib/testing/storage.ts', "import { test } from 'vitest'"],
  ['lib/panel/ui/html.ts', "import { html } from 'hono/html'"],
  ['lib/resources/tags.ts', 'const at = new Date(0).toISOString() // never Date.now()'],
  ['lib/base/clock.ts', 'export const systemClock = { now: () => Date.now() }'],
  ['lib/resources/tags.ts', "/** Not from 'node:fs', and no process.env either. */ const a = 'https://example.org'"],
  ['adapters/http/node.ts', "import { createServer } from 'node:http'\nimport type { Community } from '../../lib/index.ts'"],
  ['daemon/bin/folkmoot.ts', 'process.exitCode = 2'],
  ['adapters/files/process-lock.ts', "import { pid, platform } from 'node:process'"],
  ['daemon/relay/relay.ts', 'const subprocess = child.process.pid'],
])('what is allowed in %s passes: %j', (path, text) => {
  expect(Object.values(rules).flatMap((rule) => rule.offences({ path, text }))).toEqual([])
})
