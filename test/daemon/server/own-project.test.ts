/** Where the program is installed. `test/package/init.test.ts` reads the commands that it shows in a project. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ownProject } from '../../../daemon/server/own-project.ts'
import { temporaryDirectory } from '../../support/directory.ts'

test.each([
  ['node_modules/folkmoot/dist/daemon/server'],
  ['node_modules/.pnpm/folkmoot@1.0.0/node_modules/folkmoot/dist/daemon/server'],
])('a package at %s belongs to the project above it', (path) => {
  const project = temporaryDirectory()
  const here = join(project, path)
  mkdirSync(here, { recursive: true })
  writeFileSync(join(project, 'package.json'), '{}')
  expect(ownProject(here)).toBe(project)
})

test.each([['lib/node_modules/folkmoot/dist/daemon/server'], ['app/dist/daemon/server']])(
  'a package at %s belongs to no project',
  (path) => {
    expect(ownProject(join(temporaryDirectory(), path))).toBeUndefined()
  },
)
