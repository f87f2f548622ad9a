/** The pages for the users of the package, by their paths from the root. */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'

const docs = join(import.meta.dirname, '..', '..', 'docs')
const forOthers = /^(?:contributing|decisions|examples|site)(?:\/|$)/

export const pages: readonly string[] = [
  'README.md',
  ...readdirSync(docs, { withFileTypes: true })
    .flatMap((entry) =>
      entry.isDirectory() && !forOthers.test(entry.name)
        ? readdirSync(join(docs, entry.name)).map((name) => `${entry.name}/${name}`)
        : [entry.name],
    )
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
]
