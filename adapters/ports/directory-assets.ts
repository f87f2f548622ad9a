import { randomBytes } from 'node:crypto'
import { open, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import * as v from 'valibot'
import { must } from '../../lib/base/options.ts'
import type { AssetStore, NewFile } from '../../lib/ports.ts'
import { makeDirectory } from '../files/directory.ts'
import { fileError } from '../files/errors.ts'
import { syncDirectory, syncWhole } from '../files/sync.ts'
import { checkOptions, group, type RulesOf, nameOf as textNaming } from '../options.ts'

/** Where files are kept and how they are reached. */
export interface DirectoryAssetsOptions {
  /**
   * The directory. The first file creates it with mode 0700, and files have mode 0600. If a web server of another user serves them,
   * create it yourself, with a mode that lets that user read it: the files can then be read by the same users.
   */
  readonly directory: string
  /**
   * The address at which the host serves that directory. Use a URL such as `https://cdn.example.org/assets`, or a path such as
   * `/assets` on the origin of the API's callers.
   */
  readonly baseUrl: string
}

function isBase(baseUrl: unknown): boolean {
  if (typeof baseUrl !== 'string') return false
  // A path may not begin with two slashes, after which a browser reads a host.
  const absolute = /^\/(?![/\\])/.test(baseUrl) ? `https://host${baseUrl}` : baseUrl
  const url = URL.parse(absolute)
  return url !== null && /^https?:$/.test(url.protocol) && !url.search && !url.hash
}

/** The base of the addresses of files, as an option. */
export const baseUrlRule = v.custom<string>(isBase, must('be an absolute http or https URL, or a path such as /assets'))

export const directoryRules = {
  directory: textNaming('a directory'),
  baseUrl: baseUrlRule,
} satisfies RulesOf<DirectoryAssetsOptions>

const rules = { assets: group(directoryRules) }

/**
 * Files in a directory, each named by its id with the extension of its real type. Serve it with `X-Content-Type-Options:
 * nosniff`, from a separate origin if you can: its files come from strangers.
 * @returns a store for the option `assets` of `ports()`. The file and its name are on the disk before `put` resolves. `put` rejects with
 * a StorageError: `full`, or `unavailable`
 * @throws TypeError that lists every option that is missing, malformed or unknown
 */
export function directoryAssets(options: DirectoryAssetsOptions): AssetStore {
  const { assets } = checkOptions(
    'directoryAssets',
    rules,
    { assets: options },
    "{ directory: './data/assets', baseUrl: '/assets' }",
  )
  const { directory, baseUrl } = assets
  const base = baseOf(baseUrl)
  const pathOf = (file: NewFile) => join(directory, nameOf(file))
  return {
    async put(bytes, file) {
      const path = pathOf(file)
      // Under another name until it is whole and on the disk: no client gets half a file.
      const unfinished = `${path}.${randomBytes(4).toString('hex')}.part`
      try {
        for (const changed of makeDirectory(directory)) await syncDirectory(changed)
        await writeSynced(unfinished, bytes, await modeIn(directory))
        await rename(unfinished, path)
        await syncDirectory(directory)
      } catch (error) {
        for (const each of [unfinished, path]) await rm(each, { force: true }).catch(() => undefined)
        throw fileError('an upload cannot be stored', error)
      }
      return base + nameOf(file)
    },
    remove: (file) => rm(pathOf(file), { force: true }),
  }
}

/** Of a file in a directory: those read it who may read the directory. */
const modeIn = async (directory: string): Promise<number> => 0o600 | ((await stat(directory)).mode & 0o044)

async function writeSynced(path: string, bytes: Uint8Array, mode: number): Promise<void> {
  const handle = await open(path, 'wx', 0o600)
  try {
    if (mode !== 0o600) await handle.chmod(mode)
    await handle.writeFile(bytes)
    await syncWhole(handle)
  } finally {
    await handle.close()
  }
}

/**
 * The name under which a file is kept.
 * @throws TypeError when its parts could lead elsewhere
 */
export function nameOf({ id, extension }: Pick<NewFile, 'id' | 'extension'>): string {
  const name = `${id}.${extension}`
  if (!/^[\w-]+(?:\.[\w-]+)+$/.test(name)) throw new TypeError(`${JSON.stringify(name)} cannot be the name of a file`)
  return name
}

/** The base of addresses, with its slash at the end. */
export const baseOf = (baseUrl: string): string => (baseUrl.endsWith('/') ? baseUrl : `${baseUrl}/`)
