/** A server that a command names by its address. */
import type { ClientOptions } from '../../../lib/client/index.ts'
import { UsageError } from '../../usage.ts'

/** A server and a network on it. */
export interface Server {
  /** Names both in notes and messages, without anything secret. */
  readonly name: string
  /** Its address, without a slash at the end. */
  readonly base: string
  readonly options: ClientOptions
}

/** The part of an address that the client adds itself. */
const apiPath = /\/admin\/v1(?:\/networks(?:\/[^/]*)?)?\/?$/

/**
 * Reads an address.
 * @param option its name, for messages
 * @throws UsageError
 */
export function fromServer(option: string, address: string, network: string, token: string): Server {
  const isUrl = /^https?:/.test(address) && URL.canParse(address)
  if (!isUrl)
    throw new UsageError(
      `${option} must be the address of a server, such as https://api.example.org, got ${JSON.stringify(address)}`,
    )
  const url = new URL(address)
  if (url.username !== '' || url.search !== '' || url.hash !== '')
    throw new UsageError(`${option} must be an address without a user, a query or a fragment`)
  const base = (url.origin + url.pathname).replace(apiPath, '').replace(/\/+$/, '')
  return { name: `${base} network ${network}`, base, options: { baseUrl: base, network, token } }
}

/**
 * The message of a request that failed, for a command line: without a full stop at its end.
 * @param option the option with the address of the server, in place of the client's own
 */
export const sentenceOf = ({ message }: Error, option: string): string =>
  message.replace(/\.+$/, '').replace('Set `baseUrl` to', `Set ${option} to`)
