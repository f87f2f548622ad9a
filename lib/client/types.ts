/** The types of the client's methods. */
import type { Bodies } from './bodies.ts'
import type { List } from './lists/list.ts'
import type { Page } from './lists/page.ts'
import type { Results } from './records.ts'
import type { FileStream } from './upload.ts'

/** An id in an argument: records give texts, or numbers if the server is set so. */
export type Id = string | number | bigint

/** The response to a call, with what came along with the record. */
export interface CallResponse<Result> {
  /** The record; `undefined` for a response without a body. */
  readonly data: Result
  /** The HTTP status, such as 201. */
  readonly status: number
  /** The headers of the response. */
  readonly headers: Headers
  /** The id under which the server has logged the request; `undefined` if it sent none. */
  readonly requestId: string | undefined
}

/** A call that was sent. `await` gives the record. */
export interface Call<Result> extends Promise<Result> {
  /** The record, with the status and the headers of the response. */
  withResponse(): Promise<CallResponse<Result>>
}

/** What an operation would change. */
export interface Preview {
  /** By table, how many rows are added, changed and removed. */
  readonly rows: Readonly<Record<string, { readonly inserted: number; readonly changed: number; readonly removed: number }>>
  /** By type, such as `MemberLeftHook`, how often each event happens. */
  readonly events: Readonly<Record<string, number>>
  /** The endpoints that get events, and how many. */
  readonly deliveries: readonly { readonly endpoint_id: Id; readonly events: number }[]
  /** The changes, for people. */
  readonly sentence: string
  /** Given as `ifPreview`, the operation happens only if it still changes the same. */
  readonly token: string
}

/** The query parameters of every list. */
export interface ListQuery {
  /** The number of the page, from 1. */
  readonly page?: number | undefined
  /** Records on a page, at most 100. By default 25 for a page that is awaited, and 100 to go through all records. */
  readonly per_page?: number | undefined
  /** Whether the page has `meta`, with the number of records on all pages: exact up to 10,000. */
  readonly count?: boolean | undefined
  /** The `links.next` of a page, to resume behind it. No other parameter is allowed with it. */
  readonly from?: string | undefined
}

/** The call of an operation. */
export type CallOf<Name extends keyof Results> = Call<Results[Name]>
/** The list of an operation. */
export type ListOf<Name extends keyof Results> = List<Results[Name]>
/** The call of an operation that changes something and returns a page. */
export type PageOf<Name extends keyof Results> = Call<Page<Results[Name]>>
/** The body of an operation. */
export type Body<Name extends keyof Bodies> = Bodies[Name]
type WithFile<Value> = unknown extends Value ? Value : File extends Value ? Value | Blob | FileStream : Value
/** A body whose files may also be a `Blob` or a stream; or the whole form. */
export type Upload<B> = { readonly [Field in keyof B]: WithFile<B[Field]> } | FormData
