/**
 * The client certificates and private authorities of this relay, by the names that endpoints give: a JSON file names their files.
 *
 *     { "identities": { "bank": { "cert": "bank.pem", "key": "bank.key" } }, "cas": { "bank": "bank-ca.pem" } }
 *
 * Paths begin at the directory of that file. An endpoint that names what is not here, or has expired, is sent nothing.
 */
import { createPrivateKey } from 'node:crypto'
import { readFileSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { createSecureContext, type SecureContext } from 'node:tls'
import { errorCode } from '../../../adapters/files/errors.ts'
import { isObject, objectIn } from '../../../lib/base/json-object.ts'
import { tlsName } from '../../../lib/outbox/endpoint-attributes.ts'
import { needs } from '../../../lib/outbox/requires.ts'
import { certificatesIn } from '../../certificates.ts'
import { SettingsError } from '../settings-error.ts'
import type { Endpoint } from '../store/endpoint/relay-endpoint.ts'

/** When something can be used, in milliseconds since 1970. */
interface Validity {
  readonly begins: number
  readonly expires: number
}

interface Identity extends Validity {
  readonly cert: string
  readonly key: string
}

/** One of its certificates is valid at any time of its validity, as a rule. */
interface Authority extends Validity {
  readonly pem: string
}

export interface TlsFiles {
  readonly identities: ReadonlyMap<string, Identity>
  readonly authorities: ReadonlyMap<string, Authority>
}

/** What an endpoint needs of them. */
export type TlsNames = Pick<Endpoint, 'client_identity' | 'ca'>

export const noTlsFiles: TlsFiles = { identities: new Map(), authorities: new Map() }

const mostNames = 1000
const mostBytes = 1024 * 1024

/**
 * @param path of the JSON file; without one there is nothing
 * @param now refuses what is not valid yet at this time, in milliseconds since 1970: it would take the place of what is
 * @throws SettingsError that names every file that cannot be used, and why
 */
export function readTlsFiles(path: string | undefined, now = Number.POSITIVE_INFINITY): TlsFiles {
  if (path === undefined) return noTlsFiles
  const problems: string[] = []
  const report = (problem: string) => void problems.push(`client identities ${path}: ${problem}`)
  const files = readAll(path, report)
  for (const [name, { begins }] of [...files.identities, ...files.authorities])
    if (begins > now) report(`\`${name}\` is not valid before ${isoTime(begins)}: reload then`)
  if (problems.length > 0) throw new SettingsError(problems)
  return files
}

const isoTime = (milliseconds: number): string => new Date(milliseconds).toISOString()

type Report = (problem: string) => void

function readAll(path: string, report: Report): TlsFiles {
  const given = parsed(
    textOf(path, (problem) => report(`it ${problem}`)),
    report,
  )
  const unknown = Object.keys(given).filter((name) => name !== 'identities' && name !== 'cas')
  if (unknown.length > 0) report('it may have `identities` and `cas` alone')
  const at = (file: string): string => resolve(dirname(path), file)
  return {
    identities: named(given['identities'], 'identity', report, (value, addProblem) => readIdentity(value, at, addProblem)),
    authorities: named(given['cas'], 'ca', report, (value, addProblem) => readAuthority(value, at, addProblem)),
  }
}

function parsed(text: string | undefined, report: Report): Readonly<Record<string, unknown>> {
  if (text === undefined) return {}
  const value = objectIn(text)
  if (value) return value
  report('it must hold one JSON object, such as {"identities":{"bank":{"cert":"bank.pem","key":"bank.key"}},"cas":{}}')
  return {}
}

/** Reads each entry; those that cannot be used are reported and left out. */
function named<T>(
  given: unknown,
  kind: 'identity' | 'ca',
  report: Report,
  read: (value: unknown, addProblem: Report) => T | undefined,
): ReadonlyMap<string, T> {
  const found = new Map<string, T>()
  if (given === undefined) return found
  const place = kind === 'ca' ? '`cas`' : '`identities`'
  if (!isObject(given) || Object.keys(given).length > mostNames) {
    report(`${place} must be an object of at most ${mostNames} names`)
    return found
  }
  for (const [name, value] of Object.entries(given)) {
    if (!tlsName.test(name)) {
      report(`a name in ${place} must be 1 to 100 letters, digits, dots, hyphens and underscores`)
      continue
    }
    const one = read(value, (problem) => report(`${kind} \`${name}\`: ${problem}`))
    if (one) found.set(name, one)
  }
  return found
}

function readIdentity(value: unknown, at: (file: string) => string, addProblem: Report): Identity | undefined {
  const { cert: certFile, key: keyFile, ...rest } = isObject(value) ? value : {}
  if (typeof certFile !== 'string' || typeof keyFile !== 'string' || Object.keys(rest).length > 0) {
    addProblem('it must have `cert` and `key` alone, the paths of two PEM files')
    return undefined
  }
  const cert = textOf(at(certFile), (problem) => addProblem(`${at(certFile)} ${problem}`))
  const key = textOf(at(keyFile), (problem) => addProblem(`${at(keyFile)} ${problem}`))
  if (cert === undefined || key === undefined) return undefined
  const [own] = certificatesIn(cert)
  if (own === undefined) {
    addProblem(`${at(certFile)} must hold the certificate as PEM, and after it those between it and its authority`)
    return undefined
  }
  if (/ENCRYPTED/.test(key)) {
    addProblem(`${at(keyFile)} is encrypted: decrypt it with \`openssl pkey\`, and let only the user of the relay read it`)
    return undefined
  }
  try {
    // Of an empty file `createSecureContext` makes a context without a key.
    if (!own.checkPrivateKey(createPrivateKey(key))) {
      addProblem(`${at(keyFile)} is not the key of ${at(certFile)}`)
      return undefined
    }
    createSecureContext({ cert, key })
  } catch {
    addProblem(`${at(keyFile)} must hold the private key as PEM`)
    return undefined
  }
  return { cert, key, begins: own.validFromDate.getTime(), expires: own.validToDate.getTime() }
}

function readAuthority(value: unknown, at: (file: string) => string, addProblem: Report): Authority | undefined {
  if (typeof value !== 'string') {
    addProblem('it must be the path of a PEM file')
    return undefined
  }
  const pem = textOf(at(value), (problem) => addProblem(`${at(value)} ${problem}`))
  if (pem === undefined) return undefined
  const certificates = certificatesIn(pem)
  if (certificates.length === 0) {
    addProblem(`${at(value)} must hold certificates as PEM, all of them whole`)
    return undefined
  }
  return {
    pem,
    begins: Math.min(...certificates.map(({ validFromDate }) => validFromDate.getTime())),
    expires: Math.max(...certificates.map(({ validToDate }) => validToDate.getTime())),
  }
}

function textOf(path: string, addProblem: Report): string | undefined {
  try {
    if (statSync(path).size <= mostBytes) return readFileSync(path, 'utf8')
    addProblem('is larger than 1 MiB')
  } catch (error) {
    addProblem(`cannot be read (${errorCode(error)})`)
  }
  return undefined
}

/**
 * Why an endpoint cannot be sent to with these files, for a person; `undefined` if it can.
 * @param now milliseconds since 1970
 */
export function tlsProblem(
  { url, client_identity, ca }: TlsNames & Pick<Endpoint, 'url'>,
  files: TlsFiles,
  now: number,
): string | undefined {
  if (client_identity === null && ca === null) return undefined
  if (URL.parse(url)?.protocol === 'http:')
    return 'it has a client certificate or an authority, which an `http:` URL cannot use: register it with `https:`'
  const of = (what: string, name: string, found: Validity | undefined): string | undefined => {
    if (!found) return `${needs}${what} \`${name}\`, which this relay does not have: add it to the file of \`clientIdentities\``
    if (found.expires <= now)
      return `${needs}${what} \`${name}\`, which expired at ${isoTime(found.expires)}: renew its files, and reload`
    if (found.begins <= now) return undefined
    return `${needs}${what} \`${name}\`, which is not valid before ${isoTime(found.begins)}: reload then`
  }
  return (
    (client_identity === null ? undefined : of('the client identity', client_identity, files.identities.get(client_identity))) ??
    (ca === null ? undefined : of('the authority', ca, files.authorities.get(ca)))
  )
}

/**
 * What an endpoint's connections are made with; `undefined` for what every other one's are.
 * @param trusted PEM certificates to trust where the endpoint names no authority
 */
export function secureContextOf(
  { client_identity, ca }: TlsNames,
  { identities, authorities }: TlsFiles,
  trusted: string | undefined,
): SecureContext | undefined {
  if (client_identity === null && ca === null) return undefined
  const identity = client_identity === null ? undefined : identities.get(client_identity)
  const roots = ca === null ? trusted : authorities.get(ca)?.pem
  // Neither is missing: callers check `tlsProblem` first.
  if ((client_identity !== null && identity === undefined) || (ca !== null && roots === undefined))
    throw new Error('a client identity or an authority is missing')
  return createSecureContext({
    ...(identity === undefined ? {} : { cert: identity.cert, key: identity.key }),
    ...(roots === undefined ? {} : { ca: roots }),
  })
}
