import * as v from 'valibot'
import { isDeep, maxLevels } from '../base/nesting.ts'
import type { Preparation } from '../call.ts'
import { badRequest, fail, invalid, isApiError, tooLarge } from '../errors.ts'
import { demanded, describe, HttpUrl, limitsIn, optional, publish, request, ShortText } from '../fields.ts'
import { operation } from '../operation.ts'
import type { AssetStore, NewFile } from '../ports.ts'
import { Asset, AssetStyle } from '../records/asset.ts'
import { port } from '../rules/ports.ts'
import { isStorageError, StorageError } from '../storage/contract.ts'
import { assets } from '../storage/tables/content.ts'

const UploadedFile = publish(v.file('must be a file'), { type: 'string', format: 'binary' })

const parsedJson = (value: unknown): unknown => {
  try {
    return typeof value === 'string' ? JSON.parse(value) : value
  } catch {
    return undefined
  }
}

const tooLongJson = (most: number): string => `must have at most ${most} characters as JSON`

/** An object; in a form its JSON text, or fields called `metadata[key]`. */
const Metadata = publish(
  v.pipe(
    v.unknown(),
    // A text that is too long is refused unparsed: no transformation runs after a problem.
    v.rawCheck(({ dataset, config, addIssue }) => {
      const { longTextCharacters } = limitsIn(config)
      if (typeof dataset.value === 'string' && dataset.value.length > longTextCharacters)
        addIssue({ message: tooLongJson(longTextCharacters) })
    }),
    v.transform(parsedJson),
    // As a body, an empty list is an object without properties.
    v.transform((value) => (Array.isArray(value) && value.length === 0 ? {} : value)),
    v.custom<Readonly<Record<string, unknown>>>(
      (value) => typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof File),
      'must be an object',
    ),
    v.check((value) => !isDeep(value), `must not be nested more than ${maxLevels} levels deep`),
    v.rawCheck(({ dataset, config, addIssue }) => {
      if (!dataset.typed || dataset.issues) return
      const { longTextCharacters } = limitsIn(config)
      if (JSON.stringify(dataset.value).length > longTextCharacters) addIssue({ message: tooLongJson(longTextCharacters) })
    }),
    // As JSON writes NUL and halves of surrogate pairs, which databases refuse.
    v.rawCheck(({ dataset, addIssue }) => {
      if (dataset.typed && !dataset.issues && /\\u(?:0000|d[89a-f])/i.test(JSON.stringify(dataset.value)))
        addIssue({ message: 'must hold well-formed Unicode without NUL' })
    }),
  ),
  { type: 'object' },
)

const AssetUpload = request('AssetUploadForm', {
  asset_style: describe(
    demanded(optional(AssetStyle)),
    'What the file is for. It decides nothing here, and is kept for the host.',
  ),
  asset_file: describe(optional(UploadedFile), 'The file itself; either this or `source_url` is needed.'),
  source_url: describe(
    optional(HttpUrl),
    'An address on the public internet to download the file from, in place of `asset_file`.',
  ),
  input_type: describe(
    optional(publish({ ...ShortText }, { type: 'string', deprecated: true })),
    'Deprecated: it has no effect.',
  ),
  original_aspect_ratio: describe(optional(ShortText), 'The shape of the image, such as `16:9`; kept for the host.'),
  metadata: describe(
    optional(Metadata),
    'Further facts as an object, such as `{"is_main_image": true}`; in a form as its JSON text. Kept for the host.',
  ),
})

const missingParameter = badRequest('asset_style and either asset_file or source_url are required')
const tooLargeFile = tooLarge('The file is larger than allowed')

export const createAsset = operation({
  id: 'assets.create',
  method: 'POST',
  path: '/assets',
  scope: 'assets:write',
  summary: 'Upload an image or any other file, or have it downloaded.',
  description:
    'The file may have 25 MiB unless the host allows more or less. Its type is found by its content, and not by its name. A form is the usual way; with `source_url` JSON works too.',
  status: 201,
  form: true,
  body: AssetUpload,
  example: { asset_style: 'cover', source_url: 'https://example.org/rose.png', metadata: { is_main_image: true } },
  returns: Asset,
  errors: [missingParameter, tooLargeFile, invalid('asset_style', 'asset_file', 'source_url', 'metadata')],
  async prepare(call) {
    const { asset_style } = call.body
    if (!asset_style) fail(missingParameter, 'asset_style is required')
    const store = port(call, 'assets', 'asset_file')
    const { bytes, name } = await fileOf(call)
    const type = await port(call, 'fileTypes', 'asset_file').sniff(bytes)
    const file: NewFile = { ...type, id: call.newName(), name: plainName(name) }
    return { asset_style, file, url: await stored(store, bytes, file), byte_size: bytes.length }
  },
  discard: async ({ file }, { ports }) => ports.assets?.remove(file),
  handle({ tx, stamp, body, principal, prepared: { asset_style, file, url, byte_size } }) {
    const { original_aspect_ratio, metadata } = body
    const { name, content_type } = file
    const columns = { url, name, content_type, byte_size, asset_style, original_aspect_ratio, metadata }
    const origin = { creator_id: principal.member_id, file_id: file.id, extension: file.extension }
    return tx.insert(assets, { ...stamp(), ...columns, ...origin, type: 'Asset' })
  },
})

/**
 * Stores a file. A store that fails may be away or full, so the next try may work.
 * @returns its address
 * @throws StorageError `unavailable`, or that of the store; ApiError of the store
 */
async function stored(store: AssetStore, bytes: Uint8Array, file: NewFile): Promise<string> {
  try {
    return await store.put(bytes, file)
  } catch (error) {
    if (isApiError(error) || isStorageError(error)) throw error
    const message = error instanceof Error ? error.message : String(error)
    throw new StorageError('unavailable', `the store of uploads has failed: ${message}`, { cause: error })
  }
}

/**
 * The file of a request: the one that it holds, or the one that it names.
 * @throws ApiError 400 when there is neither, 413, 422 when it is empty or cannot be downloaded
 */
async function fileOf(call: Preparation<typeof AssetUpload>): Promise<{ bytes: Uint8Array; name: string | null }> {
  const { asset_file, source_url } = call.body
  const most = call.limits.assetBytes
  const tooLargeBy = `The file is larger than ${most} bytes`
  if (asset_file) {
    if (asset_file.size > most) fail(tooLargeFile, tooLargeBy)
    if (asset_file.size === 0) fail(invalid('asset_file'), 'asset_file is empty')
    return { bytes: new Uint8Array(await asset_file.arrayBuffer()), name: asset_file.name }
  }
  if (!source_url) fail(missingParameter, 'asset_file or source_url is required')
  let counted = 0
  const download = await port(call, 'download', 'source_url').get(source_url, most, (bytes) => {
    call.addBytes(bytes)
    counted += bytes
  })
  // For a downloader that reports nothing while it reads.
  if (download.ok && download.bytes.length > counted) call.addBytes(download.bytes.length - counted)
  if (!download.ok && download.reason === 'too large') fail(tooLargeFile, tooLargeBy)
  // One sentence for an address that is refused and one that is not there: a caller must not find out which names are inside.
  if (!download.ok) fail(invalid('source_url'), 'source_url could not be downloaded from the public internet')
  return download.bytes.length > 0 ? download : fail(invalid('source_url'), 'source_url leads to an empty file')
}

const maxNameLength = 255

/** A file's name without the folders that a client may have put before it, and without what no name should hold. */
function plainName(name: string | null): string | null {
  const last = (name ?? '').toWellFormed().split(/[/\\]/).at(-1) ?? ''
  return (
    last
      .replace(/\p{Cc}/gu, '')
      .trim()
      .slice(0, maxNameLength)
      .toWellFormed() || null
  )
}
