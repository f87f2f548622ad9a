/** Every port of `createCommunity({ ports })`, each filled by a maintained library. */
import '../node-version.ts'
import * as v from 'valibot'
import type { AssetStore, Ports } from '../../lib/ports.ts'
import { isMissing } from '../optional-package.ts'
import { checkOptions, group, type RulesOf, withMethods } from '../options.ts'
import { type DirectoryAssetsOptions, directoryAssets, directoryRules } from './directory-assets.ts'
import { type DownloadGuard, guardedDownloads, guardRules } from './download.ts'
import { fileTypes } from './file-types.ts'
import { phoneNumbers, phoneNumbersPackage } from './phone-numbers.ts'
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

/** The ports that need a choice of the host. */
export interface PortsOptions {
  /** The store of uploads: a directory, or a store such as `s3Assets({…})`. Without one, uploads are refused. */
  readonly assets?: DirectoryAssetsOptions | AssetStore
  /** The addresses that downloads may reach. Without it, `source_url` is refused. */
  readonly download?: DownloadGuard
}

const isStore = (assets: object): assets is AssetStore => 'put' in assets

const rules = {
  assets: v.optional(
    v.lazy(
      (given): v.GenericSchema<unknown, AssetStore | DirectoryAssetsOptions> =>
        typeof given === 'object' && given !== null && isStore(given)
          ? withMethods<AssetStore>(['put', 'remove'], 'directoryAssets({…}) and s3Assets({…}) have')
          : group(directoryRules),
    ),
  ),
  download: v.optional(group(guardRules)),
} satisfies RulesOf<PortsOptions>

/**
 * Every port of the option `ports`. Recurrence rules and file types are always there, phone numbers if the package
 * `libphonenumber-js` is installed, files and downloads if the options are given.
 * @throws TypeError that lists every option that is malformed or unknown
 */
export function ports(options: PortsOptions = {}): Ports {
  const { assets, download } = checkOptions('ports', rules, options, '{ assets, download }')
  return {
    recurrence: recurrence(),
    ...(isMissing(phoneNumbersPackage) ? {} : { phoneNumbers: phoneNumbers() }),
    fileTypes: fileTypes(),
    ...(assets ? { assets: isStore(assets) ? assets : directoryAssets(assets) } : {}),
    ...(download ? { download: guardedDownloads(download) } : {}),
  }
}
