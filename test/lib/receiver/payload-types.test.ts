/** The names that a compiler, and so an editor, gives the payloads of events. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { catalogue, hostCatalogue } from '../../../lib/events/catalogue.ts'

const root = join(import.meta.dirname, '../../..')

test('the payload of each event has a type named after the event', () => {
  const directory = mkdtempSync(join(tmpdir(), 'folkmoot-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  const names = [...Object.keys(catalogue), ...Object.keys(hostCatalogue)]
  const program = [
    `import type { ReceivedEvent } from ${JSON.stringify(join(root, 'lib/receiver/index.ts'))}`,
    'declare const event: ReceivedEvent',
    ...names.map((name) => `export const of${name} = () => (event.event_type === '${name}Hook' ? event.payload : undefined)`),
  ]
  writeFileSync(join(directory, 'program.ts'), program.join('\n'))
  const options =
    '--ignoreConfig --declaration --emitDeclarationOnly --allowImportingTsExtensions --module nodenext --target esnext'
  const tsc = join(root, 'node_modules/typescript/bin/tsc')
  const files = [
    '--types',
    'node',
    '--strict',
    '--outDir',
    join(directory, 'out'),
    '--rootDir',
    '/',
    join(directory, 'program.ts'),
  ]
  execFileSync(process.execPath, [tsc, ...options.split(' '), ...files], { cwd: root })
  const declarations = readFileSync(join(directory, 'out', directory, 'program.d.ts'), 'utf8')
  const typeOf = (name: string) => new RegExp(`of${name}: .*?\\.(\\w+) \\| undefined;`).exec(declarations)?.[1]
  expect(names.map(typeOf)).toEqual(names.map((name) => `${name}Payload`))
})
