import type { AssetStore } from '../../lib/ports.ts'
import { baseOf, nameOf } from './directory-assets.ts'

/** The required methods of an S3 client; the `S3` of `@aws-sdk/client-s3` fits, for any compatible service. */
export interface S3Client {
  putObject(input: {
    Bucket: string
    Key: string
    Body: Uint8Array
    ContentType: string
    ContentDisposition?: string
  }): Promise<unknown>
  deleteObject(input: { Bucket: string; Key: string }): Promise<unknown>
}

export interface S3AssetsOptions {
  readonly client: S3Client
  readonly bucket: string
  /** Put before every key, such as `assets/`. */
  readonly prefix?: string
  /** The address below which the objects are served, the prefix included. */
  readonly baseUrl: string
}

/**
 * Files as objects of an S3-compatible service, each named by its id with the extension of its real type.
 * @throws TypeError when an option is missing or malformed
 */
export function s3Assets({ client, bucket, prefix = '', baseUrl }: S3AssetsOptions): AssetStore {
  if (!bucket) throw new TypeError('option `assets.bucket` must name a bucket')
  const base = baseOf(baseUrl)
  return {
    async put(bytes, file) {
      const name = nameOf(file)
      await client.putObject({
        Bucket: bucket,
        Key: prefix + name,
        Body: bytes,
        ContentType: file.content_type,
        ...(file.name === null ? {} : { ContentDisposition: `inline; filename*=UTF-8''${encodeHeader(file.name)}` }),
      })
      return base + name
    },
    async remove(file) {
      await client.deleteObject({ Bucket: bucket, Key: prefix + nameOf(file) })
    },
  }
}

// RFC 8187 leaves fewer characters as they are than encodeURIComponent does.
const encodeHeader = (text: string): string =>
  encodeURIComponent(text.toWellFormed()).replace(/['()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`)
