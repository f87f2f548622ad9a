/** The files of the panel: their bytes are in the module, so that no file system is needed, and their names change with them. */
import { sha256 } from '../base/sha256.ts'
import type { Brand } from './options.ts'
import type { PanelAnswer } from './respond.ts'
import { script } from './script.ts'
import { style } from './style.ts'

export interface Assets {
  /** Their paths below the base path. */
  readonly css: string
  readonly js: string
  /** The file of a path below the base path. */
  find(path: string): PanelAnswer | undefined
}

/** The assets of a panel with the colour of its brand. */
export async function assetsOf({ accent }: Brand): Promise<Assets> {
  const file = async (kind: string, type: string, body: string) => ({
    path: `assets/${(await sha256(body)).slice(0, 16)}.${kind}`,
    answer: { status: 200, body, headers: { 'content-type': type, 'cache-control': 'public, max-age=31536000, immutable' } },
  })
  const css = await file('css', 'text/css; charset=utf-8', accent === undefined ? style : `${style}\n:root{--brand:${accent}}`)
  const js = await file('js', 'text/javascript; charset=utf-8', script)
  const files = new Map([css, js].map(({ path, answer }) => [path, answer]))
  return { css: css.path, js: js.path, find: (path) => files.get(path) }
}
