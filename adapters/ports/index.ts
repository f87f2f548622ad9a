/** Every port of `createCommunity({ ports })`, each filled by a maintained library. */
import '../node-version.ts'
import type { AssetStore, Ports } from '../../lib/ports.ts'
import { type DirectoryAssetsOptions, directoryAssets } from './directory-assets.ts'
import { type DownloadGuard, guardedDownloads } from './download.ts'
import { fileTypes } from './file-types.ts'
import { phoneNumbers } from './phone-numbers.ts'
import { recurrence } from './recurrence.ts'

export type { DirectoryAssetsOptions } from './directory-assets.ts'
export { directoryAssets } from './directory-assets.ts'
export type { DownloadGuard } from './download.ts'
export { guardedDownloads } from './download.ts'
export { fileTypes } from './file-types.ts'
export { phoneNumbers } from './phone-numbers.ts'
export { recurrence } from './recurrence.ts'
export type { S3AssetsOptions, S3Client } from './s3-assets.ts'
export { s3Assets } from './s3-assets.ts'

export interface PortsOptions {
  /** The store of uploads: a directory, or a store such as `s3Assets({…})`. Without one, uploads are refused. */
  readonly assets?: DirectoryAssetsOptions | AssetStore
  /** The addresses that downloads may reach. Without it, `source_url` is refused. */
  readonly download?: DownloadGuard
}

/**
 * Recurrence rules, phone numbers and file types; files and downloads where the options say how.
 * @throws TypeError when an option is malformed
 */
export function ports({ assets, download }: PortsOptions = {}): Ports {
  return {
    recurrence: recurrence(),
    phoneNumbers: phoneNumbers(),
    fileTypes: fileTypes(),
    ...(assets ? { assets: 'put' in assets ? assets : directoryAssets(assets) } : {}),
    ...(download ? { download: guardedDownloads(download) } : {}),
  }
}
