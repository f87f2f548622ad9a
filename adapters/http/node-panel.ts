/** The panel in a server of Node: Express, Connect, Fastify with middie, or `http.createServer`. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Panel } from '../../lib/panel/index.ts'
import { maxUploadBytes } from '../../lib/panel/request/form.ts'
import type { HostBody, HostRequest } from './node-body.ts'
import { address } from './node-request.ts'
import { cut } from './node-stream.ts'
import { inTurn } from './node-turns.ts'
import { type BodyReader, requestOf, write } from './node-web.ts'
import { type PanelOf, requirePanel } from './require-panel.ts'

/**
 * A middleware that serves the panel's requests, and leaves every other to the next one. A form that the host has parsed is
 * taken as it is.
 * @param panel made by `createPanel`. The second argument of its `authorize` is the request of Node or Express, with its session
 * @throws TypeError for what is no panel
 */
export function panelMiddleware(panel: Panel): (request: IncomingMessage, response: ServerResponse, next: () => void) => void
export function panelMiddleware<Host extends IncomingMessage>(
  panel: Panel<Host>,
): (request: Host, response: ServerResponse, next: () => void) => void
export function panelMiddleware<Host extends IncomingMessage>(
  panel: PanelOf<Host>,
): (request: Host, response: ServerResponse, next: () => void) => void {
  requirePanel(panel, 'panelMiddleware')
  return (message, response, next) => {
    servePanel(panel, message, message, response).then((isServed) => {
      if (!isServed) queueMicrotask(() => next())
    })
  }
}

/**
 * Serves a request with the panel, for the adapters of frameworks. It never rejects.
 * @param host what `authorize` gets as its second argument
 * @param taken called before anything is written
 * @param kept the parts that the framework keeps, if not on the request itself
 * @returns whether the request was the panel's
 */
export async function servePanel<Host>(
  panel: PanelOf<Host>,
  host: Host,
  message: IncomingMessage,
  response: ServerResponse,
  taken?: () => void,
  kept?: HostBody,
): Promise<boolean> {
  const { owns } = panel
  if (owns) {
    const { originalUrl }: HostBody = kept ?? (message as HostRequest)
    if (!owns(address(originalUrl ?? message.url).path)) return false
    await new Promise<void>((begin) => inTurn(message, response, begin))
  }
  const gone = new AbortController()
  response.once('close', () => gone.abort())
  let request: Request
  try {
    request = requestOf(message, gone.signal, formReader, kept)
  } catch {
    // It fits no `Request`, as with the method TRACE. So the panel does not serve it.
    return false
  }
  try {
    const result = await (panel as Panel<Host>)(request, host)
    if (!result) return false
    taken?.()
    await write(message, response, result)
  } catch {
    // The client is gone.
    cut(response)
  }
  return true
}

/** A form that is too large stays one byte too large: the panel refuses it. */
const formReader: BodyReader = {
  read: async (incoming) => (await incoming.read(maxUploadBytes)) ?? new Uint8Array(maxUploadBytes + 1),
  text: formText,
}

/** The text of a form that the host has parsed. Some parsers make an object of many values with one name. */
function formText(parsed: unknown): string {
  const form = new URLSearchParams()
  if (typeof parsed !== 'object' || parsed === null) return ''
  for (const [name, value] of Object.entries(parsed))
    for (const each of typeof value === 'object' && value !== null ? Object.values(value) : [value])
      form.append(name, String(each))
  return form.toString()
}
