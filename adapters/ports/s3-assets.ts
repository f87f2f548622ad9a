import * as v from 'valibot'
import type { AssetStore } from '../../lib/ports.ts'
import { checkOptions, group, type RulesOf, nameOf as textNaming, textOf, withMethods } from '../options.ts'
import { baseOf, baseUrlRule, nameOf } from './directory-assets.ts'

/** The required methods of an S3 client; the `S3` of `@aws-sdk/client-s3` fits, for any compatible service. */
export interface S3Client {
  /** Stores a file under a key of the bucket. */
  putObject(input: {
    Bucket: string
    Key: string
    Body: Uint8Array
    ContentType: string
    ContentDisposition?: string
  }): Promise<unknown>
  /** Removes the file with this key. */
  deleteObject(input: { Bucket: string; Key: string }): Promise<unknown>
}

/** How files are stored in an S3-compatible service. */
export interface S3AssetsOptions {
  /** The client, which the host closes. */
  readonly client: S3Client
  /** The bucket, which exists already. */
  readonly bucket: string
  /** Put before every key, such as `assets/`. */
  readonly prefix?: string
  /** The address below which the objects are served, the prefix included: a URL, or a path on the origin of the API's callers. */
  readonly baseUrl: string
}

const rules = {
  assets: group({
    client: withMethods<S3Client>(['putObject', 'deleteObject'], 'the S3 of @aws-sdk/client-s3 has'),
    bucket: textNaming('a bucket'),
    prefix: v.optional(textOf('a text such as assets/'), ''),
    baseUrl: baseUrlRule,
  } satisfies RulesOf<S3AssetsOptions>),
}

/**
 * Files as objects of an S3-compatible service, each named by its id with the extension of its real type.
 * @returns a store for the option `assets` of `ports()`. It rejects with the errors of the client.
 * @throws TypeError that lists every option that is missing, malformed or unknown
 */
export function s3Assets(options: S3AssetsOptions): AssetStore {
  const { assets } = checkOptions(
    's3Assets',
    rules,
    { assets: options },
    "{ client, bucket, baseUrl: 'https://cdn.example.org' }",
  )
  const { client, bucket, prefix, baseUrl } = assets
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
