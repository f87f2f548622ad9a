import { ports } from '../../adapters/ports/index.ts'
import type { AssetStore, Ports } from '../../lib/ports.ts'

/** The smallest PNG: one pixel. */
export const png = Uint8Array.from(
  atob('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='),
  (letter) => letter.charCodeAt(0),
)

/** Where a download finds a file; nothing else is on this internet. */
export const downloadable = 'https://files.example/flowers/rose.png'

/** Every port: the real libraries, an asset store in memory, and an internet of one file. */
export function testPorts(): { readonly ports: Ports; readonly files: ReadonlyMap<string, Uint8Array> } {
  const files = new Map<string, Uint8Array>()
  const store: AssetStore = {
    async put(bytes, { id, extension }) {
      files.set(`${id}.${extension}`, bytes)
      return `https://cdn.test/${id}.${extension}`
    },
    async remove({ id, extension }) {
      files.delete(`${id}.${extension}`)
    },
  }
  const download: Ports['download'] = {
    async get(url, limit) {
      if (new URL(url).hostname === 'localhost') return { ok: false, reason: 'refused' }
      if (url !== downloadable) return { ok: false, reason: 'failed' }
      return png.length > limit ? { ok: false, reason: 'too large' } : { ok: true, bytes: png, name: 'rose.png' }
    },
  }
  return { ports: { ...ports({ assets: store }), download }, files }
}
