/** folkmoot/client: a typed client of the Admin API, for every runtime with `fetch`. */
import '../base/supported-runtime.ts'

export { type Client, createClient } from './client.ts'
export type { Download, DownloadOptions } from './download.ts'
export {
  BadRequest,
  ClientError,
  Conflict,
  ConnectionError,
  Forbidden,
  InvalidResponse,
  isClientError,
  NotFound,
  RateLimited,
  ServerError,
  TimeoutError,
  Unauthorized,
  UnprocessableContent,
} from './errors.ts'
export type { ArrayLimit, List } from './lists/list.ts'
export type { Page, PageMeta } from './lists/page.ts'
export type { ClientMethods } from './methods.ts'
export type { CallOptions, ClientOptions, Retry } from './options.ts'
export type { CallParts } from './request.ts'
export type { Timing } from './timing.ts'
export type { Call, CallResponse, Id, ListQuery, Preview } from './types.ts'
export type { FileStream } from './upload.ts'
