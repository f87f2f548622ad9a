/** `folkmoot init`: a small project to begin with. */
import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { basename, join, relative, resolve } from 'node:path'
import { errorCode } from '../../../adapters/files/errors.ts'
import { plain } from '../../json.ts'
import type { Ask, Output } from '../../output.ts'
import { UsageError } from '../../usage.ts'
import { type Project, type ProjectHost, type ProjectStorage, projectHosts, projectStorages } from './choices.ts'
import { ownTarball } from './own-tarball.ts'
import { projectFiles } from './project-files.ts'

export interface InitFlags {
  readonly host?: ProjectHost
  readonly storage?: ProjectStorage
  readonly yes?: boolean
  readonly json?: boolean
}

/** @throws UsageError for a folder that holds something, or that cannot be written */
export async function init(given: string, flags: InitFlags, version: string, out: Output, terminal?: Ask): Promise<void> {
  const directory = resolve(given)
  await mustBeFree(directory, given)
  const ask = flags.yes || flags.json ? undefined : terminal
  const host = flags.host ?? (await choose('Host', projectHosts, ask))
  const storage = flags.storage ?? (await choose('Storage', projectStorages, ask))
  const tarball = ownTarball()
  const install = tarball === undefined ? 'npm install' : `npm install ${quoted(tarball)}`
  const files = projectFiles({ name: packageName(directory), host, storage, version, install })
  await write(directory, given, files)
  const next = [...(relative('.', directory) === '' ? [] : [`cd ${quoted(given)}`]), install, 'npm test', 'npm start']
  if (flags.json) return out.line(JSON.stringify({ directory, host, storage, files: Object.keys(files), next }))
  out.line(
    `Made a project for ${host} and ${storage} in ${plain(given)}. Next:\n\n${next.map((line) => `  ${line}`).join('\n')}\n`,
  )
  if (storage === 'postgres') out.line('`npm start` needs a database: set DATABASE_URL, as .env.example describes.')
  out.line('The first start prints your API key. README.md in the project says what each file is for.')
}

async function mustBeFree(directory: string, given: string): Promise<void> {
  const held = await readdir(directory).catch((error: unknown) => {
    if (errorCode(error) === 'ENOENT') return []
    if (errorCode(error) === 'ENOTDIR') throw new UsageError(`${given} is a file: name a new or empty folder`)
    throw new UsageError(`${given} cannot be read (${errorCode(error)}): name a new or empty folder`)
  })
  const [first] = held
  if (first === undefined) return
  const more = held.length === 1 ? '' : ` and ${held.length - 1} more`
  throw new UsageError(`${given} is not empty, it holds ${JSON.stringify(first)}${more}: name a new or empty folder`)
}

/** Asks until the answer is one of the choices. Without anybody to ask, and for an empty answer, it is the first. */
async function choose<Choice extends string>(what: string, choices: readonly [Choice, ...Choice[]], ask?: Ask): Promise<Choice> {
  for (;;) {
    const answer = (await ask?.(`${what} (${choices.join(', ')}) [${choices[0]}]: `))?.trim() || choices[0]
    const chosen = choices.find((choice) => choice === answer)
    if (chosen) return chosen
  }
}

async function write(directory: string, given: string, files: Readonly<Record<string, string>>): Promise<void> {
  try {
    await mkdir(directory, { recursive: true })
    for (const [name, text] of Object.entries(files)) await writeFile(join(directory, name), text, { flag: 'wx' })
  } catch (error) {
    throw new UsageError(`${given} cannot be written (${errorCode(error)}): name a folder that you may write to`)
  }
}

/** A name that npm takes, after the folder. A package may not have the name of one that it needs. */
function packageName(directory: string): Project['name'] {
  const name = basename(directory)
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')
    .slice(0, 100)
  return name === '' || ['folkmoot', 'express', 'fastify', 'hono', 'pg', 'node'].includes(name)
    ? `${name}-community`.replace(/^-/, '')
    : name
}

/** As a word for a shell. */
const quoted = (word: string): string => (/^[\w./-]+$/.test(word) ? word : `'${plain(word).replaceAll("'", `'\\''`)}'`)
