/**
 * The one declaration of an operation, from which routing, validation, authorisation, documents, typed direct calls and
 * tests are derived. Typed where it is written; the registry holds it with the types erased, so that all of them cost an
 * editor nothing.
 */
import type * as v from 'valibot'
import type { AnyCall, Call, Output, Page, PageMeta, ParamNames, Preparation } from './call.ts'
import type { Context } from './context.ts'
import type { Failure } from './errors.ts'
import type { EventName } from './events/catalogue.ts'
import type { Fields, PageOfRecords } from './fields.ts'
import type { Id } from './storage/table.ts'

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** The resource groups, as scopes name them, each in a sentence. */
export const groups = {
  members: 'People of the network and of its spaces: find, create, change, remove and ban them.',
  courseworks: 'The content of courses: the sections, lessons and quizzes of a space.',
  reactions: 'Emoji by which members react to posts and comments, one of each member.',
  mute: 'Notifications of a post, switched off and on for a member.',
  comments: 'Comments on posts, polls, questions and events, and replies to them.',
  invites: 'Invites to the network and to its plans, which the host mails.',
  tags: 'Labels by which hosts sort members.',
  spaces: 'The parts of the network in which members meet: each has its own posts, events, courses and members.',
  plans: 'What the network offers for money or for free; each plan opens spaces. Hosts create plans with their payment provider.',
  password_resets: 'Requests to the host to mail a member a way to set a new password.',
  badges: 'Marks with a picture that hosts give to members.',
  rsvps: 'Answers of members to events, or to one occurrence of a series.',
  options: 'The options of dropdowns, among which members choose.',
  answers: 'What members answer to custom fields.',
  subscriptions: 'Repeated payments for plans, as the host reports them.',
  purchases: 'Single payments for plans, as the host reports them.',
  posts: 'Posts and articles; polls, questions and events are listed among them.',
  polls: 'Polls and questions. The host takes and counts the votes.',
  networks: 'The network that the token belongs to.',
  me: 'The member whom the token acts as.',
  events: 'Events at a place or online, once or as a series.',
  custom_fields: 'Further questions about members, such as a dropdown of professions.',
  collections: 'Groups of spaces, in the order in which members see them.',
  assets: "Images and other files, for badges and for the host's pages.",
  abuse_reports: 'What members have reported to the hosts.',
} as const

export type Group = keyof typeof groups

export type Scope = `${Group}:${'read' | 'write'}`

type Example<B> = B extends v.GenericSchema ? v.InferInput<B> & Readonly<Record<string, unknown>> : never
type OptionalResult<Nothing> = Nothing extends string ? undefined : never
type Returned<R, Nothing> =
  R extends PageOfRecords<infer S>
    ? Promise<Page<v.InferInput<S>>>
    : R extends v.GenericSchema
      ? Promise<v.InferInput<R> | OptionalResult<Nothing>>
      : Promise<void>

type Day = `${number}-${number}-${number}`

/** That an operation is deprecated: every response of it has the headers `Deprecation` and `Sunset`. Both days are in UTC. */
export interface Deprecation {
  /** The day of the first release that says so: `2027-01-31`. */
  readonly since: Day
  /** The day from which a release may lack it. */
  readonly sunset?: Day
}

/** How an operation is declared. */
export interface Declaration<
  Name extends string,
  Also extends string,
  Path extends string,
  Q extends Fields | undefined,
  B extends v.GenericSchema | undefined,
  R extends v.GenericSchema | PageOfRecords | undefined,
  E extends EventName,
  Nothing extends string | undefined,
  Prepared,
> {
  /** `<group>.<verb>`, unique; the operation's id in documents, logs and direct calls. */
  readonly id: Name
  /** The HTTP method of the request. */
  readonly method: Method
  /** Below `/admin/v1/networks/{network_id}`, with `:name` for an id; the trailing slash as the description has it. */
  readonly path: Path
  /** The same operation under a second method: PUT as well as PATCH. */
  readonly also?: { readonly id: Also; readonly method: Method }
  /** What a key needs to call it, such as `members:write` (interface.md, 5.2). */
  readonly scope: Scope
  /** One sentence, ending with a full stop. */
  readonly summary: string
  /** What the summary does not say: side effects, the events that follow, who may, what a repetition does. */
  readonly description: string
  /** The status of success: 200 by default, 204 where nothing is returned. */
  readonly status?: number
  /**
   * Query parameters in addition to `page` and `per_page`, which every list has. On a request without a body schema they may also be in
   * a JSON body.
   */
  readonly query?: Q
  /** The schema of the JSON body; left out if it takes none. */
  readonly body?: B
  /** A body for the documents, where one with every field would make no sense. */
  readonly example?: Example<NoInfer<B>>
  /** The body may also come as a form, `multipart/form-data` or urlencoded: files arrive as `File`, every other field as text. */
  readonly form?: true
  /** The schema of the record in the response, or of a page of records. */
  readonly returns?: R
  /** When there may be nothing to return although `returns` is set, as a sentence; then `undefined` becomes a 204. */
  readonly noContent?: Nothing
  /** The ways in which it fails, in addition to those that every operation has (401, 403, 429) and a body brings along (400, 413, 415, 422). */
  readonly errors?: readonly Failure[]
  /** The events that the handler may publish; it cannot publish others. */
  readonly emits?: readonly E[]
  /** Set when it is to be removed: each response says so in its headers. */
  readonly deprecated?: Deprecation
  /**
   * Work that must not happen in a transaction because it takes long or reaches outside: storing a file. Runs once, before
   * the transaction, and may throw declared errors.
   */
  readonly prepare?: (call: Preparation<B>) => Promise<Prepared>
  /** Undoes `prepare` when no transaction came of it. */
  readonly discard?: (prepared: Prepared, call: Pick<Context, 'ports'>) => Promise<void>
  /** The work itself, in one transaction. It may run again after a conflict, so it has no side effects but through `tx`. */
  readonly handle: (call: Call<Path, Q, B, E, Prepared>) => Returned<R, Nothing>
}

type Erased = Declaration<
  string,
  string,
  string,
  Fields,
  v.GenericSchema,
  v.GenericSchema | PageOfRecords,
  EventName,
  string,
  unknown
>
type Defaulted = 'status' | 'errors' | 'emits'

/** An operation with its types erased, as the registry holds it. */
export interface AnyOperation
  extends Omit<Erased, Defaulted | 'prepare' | 'discard' | 'handle'>,
    Required<Pick<Erased, Defaulted>> {
  // Methods, so that those of a declaration, which need more than is known here, are assignable.
  /** Work before the transaction, such as storing a file; it runs once. */
  prepare?(
    call: Pick<AnyCall, 'body' | 'ports' | 'limits'> & { newName(): string; addBytes(bytes: number): void },
  ): Promise<unknown>
  /** Undoes `prepare` when no transaction came of it. */
  discard?(prepared: unknown, call: Pick<AnyCall, 'ports'>): Promise<void>
  /** The work itself, in one transaction. It returns the record or the page of the response. */
  handle(call: AnyCall): Promise<unknown>
}

/** An operation as its file exports it: what a direct call needs of its types, and no more. */
export interface Operation<Name extends string, Input, Result, Body = unknown, Also = unknown> extends AnyOperation {
  /** `<group>.<verb>`, unique: the operation's id in documents, logs and direct calls. */
  readonly id: Name
  /** Types only; never set. */
  readonly '~types'?: { readonly input: Input; readonly result: Result; readonly body: Body; readonly also: Also }
}

/** The page that a direct call requests, as the query of a request would. */
export interface PageInput {
  /** From 1. */
  readonly page?: number | string | undefined
  /** Records on a page, at most 100; 25 by default. */
  readonly per_page?: number | string | undefined
  /** Copied unchanged from `links.next`. */
  readonly after?: string | undefined
  /** Whether the response has `meta`, with the number of records on all pages: exact up to 10,000. */
  readonly count?: boolean | string | undefined
}

type QueryInput<Q, R> = (Q extends Fields ? Readonly<v.InferInput<v.ObjectSchema<Q, undefined>>> : unknown) &
  (R extends PageOfRecords ? PageInput : unknown)

type InputOf<Path extends string, Q, B, R> = ([ParamNames<Path>] extends [never]
  ? { readonly params?: Record<never, never> }
  : { readonly params: { readonly [Name in ParamNames<Path>]: Id | number } }) &
  (unknown extends QueryInput<Q, R>
    ? { readonly query?: Record<string, never> }
    : Record<never, never> extends QueryInput<Q, R>
      ? { readonly query?: QueryInput<Q, R> }
      : { readonly query: QueryInput<Q, R> }) &
  (B extends v.GenericSchema ? { readonly body: v.InferInput<B> } : { readonly body?: undefined })

type ResultOf<R, Nothing> =
  | (R extends PageOfRecords<infer S>
      ? {
          readonly items: readonly v.InferOutput<S>[]
          readonly links: { readonly self: string; readonly next: string | null }
          readonly meta?: PageMeta
        }
      : R extends v.GenericSchema
        ? v.InferOutput<R>
        : undefined)
  | OptionalResult<Nothing>

/**
 * Declares an operation. The compiler derives `params` from the path, `query` and `body` from their schemas, and the returned
 * record from `returns`. `emit` accepts only names of `emits`.
 */
export function operation<
  const Name extends string,
  const Path extends string,
  const Also extends string = never,
  const Q extends Fields | undefined = undefined,
  const B extends v.GenericSchema | undefined = undefined,
  const R extends v.GenericSchema | PageOfRecords | undefined = undefined,
  const E extends EventName = never,
  const Nothing extends string | undefined = undefined,
  Prepared = undefined,
>(
  declaration: Declaration<Name, Also, Path, Q, B, R, E, Nothing, Prepared>,
): Operation<Name, InputOf<Path, Q, B, R>, ResultOf<R, Nothing>, Output<B>, Also> {
  const status = declaration.status ?? (declaration.returns ? 200 : 204)
  return Object.freeze({ errors: [], emits: [], ...declaration, status }) as unknown as Operation<
    Name,
    InputOf<Path, Q, B, R>,
    ResultOf<R, Nothing>,
    Output<B>,
    Also
  >
}

/** The resource group of an operation: the part of its scope before the colon. */
export const groupOf = ({ scope }: Pick<AnyOperation, 'scope'>): Group => scope.slice(0, scope.indexOf(':')) as Group

/** An operation as a path reached it: by its own method, or by the one that it also accepts. */
export interface Route {
  readonly operation: AnyOperation
  readonly id: string
  readonly method: Method
}

/** Each operation under each of its methods. */
export function routesOf(operations: readonly AnyOperation[]): Route[] {
  return operations.flatMap((operation) => [
    { operation, id: operation.id, method: operation.method },
    ...(operation.also ? [{ operation, ...operation.also }] : []),
  ])
}
