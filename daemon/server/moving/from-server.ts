/** A server that a command names by its address. */
import { withoutPassword } from '../../../lib/base/without-password.ts'
import { type ClientError, type ClientOptions, createClient, InvalidResponse } from '../../../lib/client/index.ts'
import { tooLargeCode } from '../../../lib/client/response.ts'
import { about, UsageError } from '../../usage.ts'

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
 * @throws UsageError
 */
export function fromServer(option: string, address: string, network: string, token: string): Server {
  const url = /^https?:/.test(address) ? URL.parse(address) : null
  if (!url)
    throw new UsageError(
      `${option} must be the address of a server, such as https://api.example.org, got ${JSON.stringify(withoutPassword(address))}`,
    )
  if (url.username !== '' || url.search !== '' || url.hash !== '')
    throw new UsageError(`${option} must be an address without a user, a query or a fragment`)
  const base = (url.origin + url.pathname).replace(apiPath, '').replace(/\/+$/, '')
  const options = { baseUrl: base, network, token }
  requireUsable(option, options)
  return { name: `${base} network ${network}`, base, options }
}

/** The options of the client that it names as wrong. */
export const optionsIn = ({ message }: TypeError): string[] =>
  [...message.matchAll(/option `(\w+)`/g)].map(([, name = '']) => name)

/** @throws UsageError for a network or a token that no server can have */
function requireUsable(option: string, options: ClientOptions): void {
  try {
    createClient(options)
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    const problems = error.message.replace('createClient: ', '').replace(/option `(\w+)`/g, 'the $1')
    throw about(new UsageError(`the server of ${option}: ${problems}`), ...optionsIn(error))
  }
}

/**
 * The message of a request that failed, for a command line: without a full stop at its end.
 * @param option the option with the address of the server, in place of the client's own
 */
export const sentenceOf = ({ message }: Error, option: string): string =>
  message.replace(/\.+$/, '').replace('Set `baseUrl` to', `Set ${option} to`).replace(' (option `maxResponseBytes`)', '')

/** Whether a command that a failed request has ended would be ended by the same request again. */
export const isTooLarge = ({ code }: ClientError): boolean => code === tooLargeCode

const mayPass = (error: ClientError): boolean =>
  !(error instanceof InvalidResponse) &&
  (error.status === undefined || error.status === 408 || error.status === 429 || error.status >= 500)

/**
 * The message of a run that a failed request has ended, and how to go on.
 * @param done where the work so far is
 */
export function endOfRun(error: ClientError, option: string, done: string): string {
  const what = `${sentenceOf(error, option)}. ${done}`
  if (isTooLarge(error))
    return `${what}. The same command would end there again: shorten that record on the server, or leave its list out with --only`
  if (mayPass(error)) return `${what}: the same command goes on from there`
  return `${what}: once this is mended, the same command goes on from there`
}
