import { join } from 'node:path'
import { expect, test } from 'vitest'
import { modules } from '../../scripts/bundle.ts'
import { committedText, exportsList, exportsText } from '../../scripts/exports-list.ts'

const root = join(import.meta.dirname, '..', '..')

test('each entry exports what the committed list says: `npx node scripts/exports-list.ts` writes it', () => {
  expect(exportsText()).toBe(committedText())
})

test('the values of the list are those that a host gets', async () => {
  const listed = Object.values(exportsList()).map(({ values }) => values)
  const sources = modules.map((path) => join(root, path.replace('./dist/', '').replace(/\.js$/, '.ts')))
  const loaded = await Promise.all(sources.map((source): Promise<object> => import(source)))
  expect(listed).toEqual(loaded.map((each) => Object.keys(each).sort()))
})
