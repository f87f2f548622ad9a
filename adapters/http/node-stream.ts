/** The ends of responses. Those of HTTP/2 have neither `destroyed` nor a `destroy` that ends them; their streams have both. */
import type { ServerResponse } from 'node:http'
import type { ServerHttp2Stream } from 'node:http2'

const streamOf = (response: ServerResponse & { readonly stream?: ServerHttp2Stream }) => response.stream

/** Whether no client gets the response any more. */
export function isGone(response: ServerResponse): boolean {
  const stream = streamOf(response)
  return stream ? stream.destroyed || stream.closed : response.destroyed
}

/** Ends a response immediately, with its connection over HTTP/1 and with its stream over HTTP/2. */
export function cut(response: ServerResponse): void {
  const stream = streamOf(response)
  if (stream) stream.destroy()
  else response.destroy()
}
