/** `folkmoot init`: a small project to begin with. */
import { copyFile, mkdir, readdir, writeFile } from 'node:fs/promises'
import { basename, dirname, join, relative, resolve } from 'node:path'
import * as v from 'valibot'
import { errorCode } from '../../../adapters/files/errors.ts'
import { Email } from '../../../lib/fields.ts'
import { plain } from '../../json.ts'
import type { Ask, Output } from '../../output.ts'
import { UsageError } from '../../usage.ts'
import { ownTarball } from '../own-project.ts'
import { type Project, projectHosts, projectLanguages, projectStorages } from './choices.ts'
import { projectFiles } from './project-files.ts'

export interface InitFlags extends Partial<Pick<Project, 'host' | 'storage' | 'title' | 'ownerName' | 'ownerEmail'>> {
  readonly typescript?: boolean
  readonly yes?: boolean
  readonly json?: boolean
}

const problemOfText = (text = ''): string | undefined => (text.trim() === '' ? "can't be blank" : undefined)
const problemOfEmail = (text = ''): string | undefined => (v.is(Email, text) ? undefined : 'must be an e-mail address')

/** What only a person knows: the flag, the question, and what is wrong with a value. */
const personal = [
  ['title', '--title', 'Title of the network', problemOfText],
  ['ownerName', '--owner-name', 'Name of its first host', problemOfText],
  ['ownerEmail', '--owner-email', "First host's e-mail address", problemOfEmail],
] as const

/** @throws UsageError for a folder that holds something or cannot be written, and for flags that are missing or wrong */
export async function init(named: string | undefined, flags: InitFlags, version: string, out: Output, ask?: Ask): Promise<void> {
  const terminal = flags.yes || flags.json ? undefined : ask
  checkFlags(flags, terminal !== undefined)
  const given = named ?? (await terminal?.('Folder', { problemOf: problemOfText }))
  if (given === undefined) throw new UsageError('name a new or empty folder')
  const directory = resolve(given)
  await mustBeFree(directory, given)
  const choose = async <Choice extends string>(question: string, choices: readonly [Choice, ...Choice[]]): Promise<Choice> => {
    const answer = await terminal?.(question, { choices })
    return choices.find((choice) => choice === answer) ?? choices[0]
  }
  const typed = flags.typescript === undefined ? undefined : projectLanguages[flags.typescript ? 1 : 0]
  const language = typed ?? (await choose('Language', projectLanguages))
  const host = flags.host ?? (await choose('Host', projectHosts))
  const storage = flags.storage ?? (await choose('Storage', projectStorages))
  const answers = { title: '', ownerName: '', ownerEmail: '' }
  for (const [name, , question, problemOf] of personal)
    answers[name] = (flags[name] ?? (await terminal?.(question, { problemOf })) ?? '').trim()
  const tarball = ownTarball()
  const folkmoot = tarball === undefined ? version : `file:${basename(tarball)}`
  const files = projectFiles({ name: packageName(directory), host, storage, language, ...answers, folkmoot })
  await write(directory, given, files, tarball)
  const first = storage === 'postgres' ? ['docker compose up -d database'] : []
  const next = [
    ...(relative('.', directory) === '' ? [] : [`cd ${quoted(given)}`]),
    ...['npm install', 'npm test', ...first, 'npm start'],
  ]
  if (flags.json) return out.line(JSON.stringify({ directory, language, host, storage, files: Object.keys(files), next }))
  out.line(
    `Made a project for ${host} and ${storage} in ${plain(given)}. Next:\n\n${next.map((line) => `  ${line}`).join('\n')}\n`,
  )
  out.line('The first start prints your API key. README.md in the project says what each file is for.')
}

/** Nobody is made up: without a terminal, the title and the first host have to be given. */
function checkFlags(flags: InitFlags, canAsk: boolean): void {
  const missing = personal.filter(([name]) => flags[name] === undefined).map(([, flag]) => flag)
  if (!canAsk && missing.length > 0)
    throw new UsageError(`${missing.join(', ')} must be given where no one is asked: the network's title and its first host`)
  for (const [name, flag, , problemOf] of personal) {
    const problem = flags[name] === undefined ? undefined : problemOf(flags[name])
    if (problem !== undefined) throw new UsageError(`${flag} ${problem}, got ${JSON.stringify(flags[name])}`)
  }
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

/** @param tarball of folkmoot, which is copied into the project, so that its image and CI can install it */
async function write(directory: string, given: string, files: Readonly<Record<string, string>>, tarball?: string): Promise<void> {
  try {
    for (const [name, text] of Object.entries(files)) {
      await mkdir(dirname(join(directory, name)), { recursive: true })
      // Encryption keys come into `.env`.
      await writeFile(join(directory, name), text, { flag: 'wx', mode: name === '.env' ? 0o600 : 0o666 })
    }
    if (tarball !== undefined) await copyFile(tarball, join(directory, basename(tarball)))
  } catch (error) {
    throw new UsageError(`${given} cannot be written (${errorCode(error)}): name a folder that you may write to`)
  }
}

/** A name after the folder that npm takes, and a network as its subdomain. A package may not have the name of one that it needs. */
function packageName(directory: string): Project['name'] {
  const name = basename(directory)
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^[^a-z]+/, '')
    .slice(0, 50)
    .replace(/-$/, '')
  const isTaken = ['folkmoot', 'express', 'fastify', 'hono', 'pg', 'node', 'typescript'].includes(name)
  return isTaken || name.length < 2 ? `${name}-community`.replace(/^-/, '') : name
}

/** As a word for a shell. */
const quoted = (word: string): string => (/^[\w./-]+$/.test(word) ? word : `'${plain(word).replaceAll("'", `'\\''`)}'`)
