/** The files of the panel: their bytes are in the module, so that no file system is needed, and their names change with them. */
import { sha256 } from '../../base/sha256.ts'
import type { Brand } from '../ui/brand.ts'
import { script } from '../ui/script.ts'
import { style } from '../ui/style.ts'
import type { PanelResponse } from './respond.ts'

/** A file of the host's, which is read when it is needed, once. */
export interface LateAsset {
  /** Its path below the base path. */
  path(): Promise<string>
}

export interface Assets {
  /** Their paths below the base path. */
  readonly css: string
  readonly js: string
  /** Scalar's API reference, if the host has it. */
  readonly scalar: LateAsset | undefined
  find(path: string): Promise<PanelResponse | undefined>
}

/** Where the host's file is, before its hash. */
const scalarStart = 'assets/scalar-'

/**
 * The assets of a panel with the colour of its brand.
 * @param readScalar reads the file of Scalar's API reference
 */
export async function assetsOf({ accent }: Brand, readScalar?: () => Promise<Uint8Array>): Promise<Assets> {
  const file = async (kind: string, type: string, body: string | Uint8Array<ArrayBuffer>, start = 'assets/') => ({
    path: `${start}${(await sha256(body)).slice(0, 16)}.${kind}`,
    response: { status: 200, body, headers: { 'content-type': type, 'cache-control': 'public, max-age=31536000, immutable' } },
  })
  const css = await file('css', 'text/css; charset=utf-8', accent === undefined ? style : `${style}\n:root{--brand:${accent}}`)
  const js = await file('js', 'text/javascript; charset=utf-8', script)
  const files = new Map([css, js].map(({ path, response }) => [path, response]))
  let read: ReturnType<typeof file> | undefined
  /** A file that cannot be read is tried again by the next request. */
  const scalarFile = (from: () => Promise<Uint8Array>) => {
    read ??= from()
      .then((bytes) => file('js', 'text/javascript; charset=utf-8', new Uint8Array(bytes), scalarStart))
      .catch((error: unknown) => {
        read = undefined
        throw error
      })
    return read
  }
  return {
    css: css.path,
    js: js.path,
    scalar: readScalar && { path: async () => (await scalarFile(readScalar)).path },
    async find(path) {
      if (!readScalar || !path.startsWith(scalarStart)) return files.get(path)
      const { path: own, response } = await scalarFile(readScalar)
      return path === own ? response : undefined
    },
  }
}
