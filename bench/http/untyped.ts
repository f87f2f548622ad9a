/** Frameworks whose types cannot be used here. */

export type Body = Readonly<Record<string, unknown>>

/** As much of Hono as is used: its types do not agree with those of Node. */
interface HonoContext {
  readonly req: {
    readonly raw: Request
    param(name: string): string
    query(name: string): string | undefined
    json(): Promise<Body>
  }
  json(value: unknown, status?: number): unknown
}
type HonoRoute = (path: string, handle: (context: HonoContext) => unknown) => unknown
export interface Hono {
  readonly all: HonoRoute
  readonly get: HonoRoute
  readonly post: HonoRoute
  readonly fetch: unknown
}
export type Serve = (options: object, listening: (address: { readonly port: number }) => void) => unknown

/** A module without types that could be used here. */
export const untyped = async <T>(name: string): Promise<T> => (await import(name)) as T
