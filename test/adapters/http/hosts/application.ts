/** An application as a user has it: the examples, the package with its dependencies, and a network with a key. */
import { cpSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { inject } from 'vitest'
import { sqliteStorage } from '../../../../adapters/storage/sqlite.ts'
import { createCommunity } from '../../../../lib/index.ts'
import { linkPackages } from '../../../support/built-package.ts'
import { shared } from '../../../support/shared.ts'

const root = join(import.meta.dirname, '..', '..', '..', '..')

export interface Application {
  /** Holds the examples. */
  readonly directory: string
  /** A key with every scope. */
  readonly token: string
  /** A new directory for `DATA`, with the network and its key. */
  data(name: string): string
  /** Writes a file next to the examples. */
  write(name: string, text: string): void
}

export async function application(): Promise<Application> {
  const directory = mkdtempSync(join(inject('directory'), 'hosts-'))
  cpSync(join(root, 'docs', 'examples'), directory, { recursive: true })
  writeFileSync(join(directory, 'package.json'), '{ "private": true, "type": "module" }')
  const packages = join(directory, 'node_modules')
  linkPackages(join(root, 'node_modules'), packages)
  cpSync(join(await shared('package'), 'node_modules', 'folkmoot'), join(packages, 'folkmoot'), { recursive: true })
  const token = await prepare(join(directory, 'prepared'))
  return {
    directory,
    token,
    data(name) {
      const data = join(directory, 'data', name)
      cpSync(join(directory, 'prepared'), data, { recursive: true })
      return data
    },
    write: (name, text) => writeFileSync(join(directory, name), text),
  }
}

async function prepare(directory: string): Promise<string> {
  mkdirSync(directory)
  const storage = await sqliteStorage({ path: join(directory, 'community.sqlite') })
  const community = createCommunity({ storage })
  const owner = { email: 'ada@example.org', first_name: 'Ada', last_name: 'Ash' }
  const { network } = await community.networks.create({ subdomain: 'paint-pals', title: 'Paint Pals', owner })
  const { token } = await community.keys.create({ network: network.id, name: 'Hosts', scopes: ['*'] })
  for (const title of ['Oil', 'Chalk']) await community.call('tags.create', { network: network.id, body: { title } })
  await community.close()
  return token
}

/** The version of a package of this checkout. */
export const versionOf = (name: string): string =>
  (JSON.parse(readFileSync(join(root, 'node_modules', name, 'package.json'), 'utf8')) as { version: string }).version
