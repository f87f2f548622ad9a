/** The adapter of docs/storage-example.md, run unchanged but for its imports. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll } from 'vitest'
import type { OutboxWriter, Storage } from '../../../lib/storage/index.ts'
import { type TableDefinition, testStorage } from '../../../lib/testing/index.ts'
import { recordingOutbox } from '../../adapters/storage/recording-outbox.ts'

interface Options {
  readonly path: string
  readonly tables: readonly TableDefinition[]
  readonly outbox: OutboxWriter
}

const root = join(import.meta.dirname, '..', '..', '..')
const directory = await mkdtemp(join(tmpdir(), 'folkmoot-example-'))
afterAll(() => rm(directory, { recursive: true }))

const page = await readFile(join(root, 'docs', 'storage-example.md'), 'utf8')
const code = /^`my-storage\.js`:\n\n```js\n(.*?)^```/ms.exec(page)?.[1] ?? ''
const library = pathToFileURL(join(root, 'lib', 'storage', 'index.ts')).href
const file = join(directory, 'my-storage.mjs')
await writeFile(file, code.replace("'folkmoot/storage'", `'${library}'`))
const { myStorage } = (await import(pathToFileURL(file).href)) as { myStorage(options: Options): Promise<Storage> }

let number = 0
testStorage('the example of docs/storage-example.md', async (tables) => {
  const path = join(directory, `${number++}.sqlite`)
  const outbox = recordingOutbox()
  const open = () => myStorage({ path, tables, outbox })
  return { storage: await open(), records: outbox.records, reopen: open }
})
