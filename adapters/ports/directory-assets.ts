import { randomBytes } from 'node:crypto'
import { mkdir, open, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { AssetStore, NewFile } from '../../lib/ports.ts'

/** Where files are kept and how they are reached. */
export interface DirectoryAssetsOptions {
  /** The directory, created with the first file. */
  readonly directory: string
  /**
   * The address at which the host serves that directory. Use a URL such as `https://cdn.example.org/assets`, or a path such as
   * `/assets` on the origin of the API's callers.
   */
  readonly baseUrl: string
}

/**
 * Files in a directory, each named by its id with the extension of its real type. Serve it with `X-Content-Type-Options:
 * nosniff`, from a separate origin if you can: its files come from strangers.
 * @throws TypeError when an option is missing or malformed
 */
export function directoryAssets({ directory, baseUrl }: DirectoryAssetsOptions): AssetStore {
  if (!directory) throw new TypeError('option `assets.directory` must name a directory')
  const base = baseOf(baseUrl)
  const pathOf = (file: NewFile) => join(directory, nameOf(file))
  return {
    async put(bytes, file) {
      await mkdir(directory, { recursive: true })
      const path = pathOf(file)
      // Under another name until it is whole and on the disk: nobody is served half a file.
      const unfinished = `${path}.${randomBytes(4).toString('hex')}.part`
      try {
        await writeSynced(unfinished, bytes)
        await rename(unfinished, path)
      } catch (error) {
        await rm(unfinished, { force: true })
        throw error
      }
      return base + nameOf(file)
    },
    remove: (file) => rm(pathOf(file), { force: true }),
  }
}

async function writeSynced(path: string, bytes: Uint8Array): Promise<void> {
  const handle = await open(path, 'wx', 0o644)
  try {
    await handle.writeFile(bytes)
    await handle.sync()
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

/**
 * The base of addresses, with its slash at the end.
 * @throws TypeError when it is neither an http or https URL nor a path, without query and fragment
 */
export function baseOf(baseUrl: string): string {
  // A path may not begin with two slashes, after which a browser reads a host.
  const isPath = /^\/(?![/\\])/.test(baseUrl)
  const absolute = isPath ? `https://host${baseUrl}` : baseUrl
  const url = URL.canParse(absolute) ? new URL(absolute) : undefined
  if (!url || !/^https?:$/.test(url.protocol) || url.search || url.hash)
    throw new TypeError(
      `option \`assets.baseUrl\` must be an absolute http or https URL, or a path such as /assets, got ${JSON.stringify(baseUrl)}`,
    )
  return baseUrl.endsWith('/') ? baseUrl : `${baseUrl}/`
}
