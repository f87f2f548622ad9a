/** The body of a request, in browsers too. */

/**
 * The body as a stream; null if there is none. Firefox has no `Request.prototype.body`: `undefined` says nothing there, and the browser
 * itself holds the whole body. Callers bound what they read, and look at `Content-Length` before.
 */
export async function streamOf(request: Request): Promise<ReadableStream<Uint8Array> | null> {
  return request.body === undefined ? (await request.blob()).stream() : request.body
}
