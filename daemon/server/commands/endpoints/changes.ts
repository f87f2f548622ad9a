/** The changes of an endpoint in the flags of a command. */
import { defined } from '../../../../lib/base/defined.ts'
import { catalogue, hostCatalogue, hostEventName, webhookName } from '../../../../lib/events/catalogue.ts'
import { similarNames } from '../../../../lib/events/similar-names.ts'
import type { Endpoint, EndpointChanges, EndpointRotation } from '../../../../lib/index.ts'
import { hasAuthorization } from '../../../../lib/outbox/headers.ts'
import { noticeTypes } from '../../../../lib/outbox/values.ts'
import { UsageError } from '../../../usage.ts'
import { linesOf, secretOf, secretsOf } from '../../credentials/secrets.ts'
import type { NetworkFlags } from '../operator.ts'
import { type AttributeFlags, attributeChanges, attributeOptions } from './options.ts'

export interface EndpointFlags extends NetworkFlags, AttributeFlags {
  readonly token?: string
  readonly tokenFile?: string
  readonly makeToken?: boolean
  readonly secret: readonly string[]
  readonly secretFile: readonly string[]
  /** `true`, or the kind. */
  readonly makeSecret?: true | string
  readonly unsigned?: boolean
  readonly header?: readonly string[]
  readonly headerFile?: string
  readonly removeHeaders?: boolean
  /** Seconds. */
  readonly keepOld?: number
}

function tokenOf({ token, tokenFile }: EndpointFlags): string | undefined {
  const given = secretOf('--token', token, tokenFile)
  // In the library `true` makes one. Here it would be a token that everybody can guess.
  if (given === 'true') throw new UsageError('--token true would be the token itself: use --make-token to make one')
  if (given !== undefined && /^bearer\s/i.test(given))
    throw new UsageError('--token is the token alone: the relay puts the word Bearer before it')
  return given
}

/** The headers in the flags; `undefined` keeps the present ones. */
function headersOf({ header = [], headerFile, removeHeaders }: EndpointFlags): Readonly<Record<string, string>> | undefined {
  const given = headerFile === undefined ? header : linesOf('--header', headerFile)
  if (given.length === 0) return removeHeaders ? {} : undefined
  const pairs = given.map((each) => {
    const colon = each.indexOf(':')
    if (colon < 1) throw new UsageError("--header must be a name and a value, such as 'X-Api-Key: value'")
    return [each.slice(0, colon).trim(), each.slice(colon + 1).trim()] as const
  })
  const names = pairs.map(([name]) => name)
  const twice = names.find((name, place) => names.indexOf(name) !== place)
  if (twice !== undefined) throw new UsageError(`--header ${JSON.stringify(twice.slice(0, 100))} is there twice`)
  return Object.fromEntries(pairs)
}

/** Only the named changes. */
export function changesOf(flags: EndpointFlags, needed?: 'needed'): EndpointChanges {
  const { audience, unsigned, event = [] } = flags
  const token = tokenOf(flags)
  const secrets = secretsOf('--secret', flags.secret, flags.secretFile)
  for (const each of event) checkEvent(each, audience)
  const headers = headersOf(flags)
  const changes = {
    ...attributeChanges(flags),
    ...(secrets.length === 0 ? {} : { secrets }),
    // It takes the place of the token.
    ...(headers && hasAuthorization(Object.keys(headers).map((name) => ({ name }))) ? { token: null } : {}),
    ...defined({ headers, token }),
    ...(unsigned ? { secrets: null } : {}),
  }
  if (needed && Object.keys(changes).length === 0) {
    const options = Object.values(attributeOptions).flatMap((each) => each.options('update').map(({ long }) => long))
    throw new UsageError(
      `name a change: ${[...options, '--header', '--unsigned'].join(', ')}; tokens and secrets with \`endpoints rotate\``,
    )
  }
  return changes
}

/** Adds the token and the secret that are to be made. */
export function orMade({ makeToken, makeSecret }: EndpointFlags, changes: EndpointChanges): EndpointChanges {
  return { ...changes, ...(makeToken ? { token: true } : {}), ...(makeSecret ? { secrets: kindOf(makeSecret) } : {}) }
}

function kindOf(given: true | string): true | 'ed25519' {
  if (given === true || given === 'ed25519') return given
  throw new UsageError(`--make-secret takes no value, or ed25519; got ${JSON.stringify(given.slice(0, 40))}`)
}

/** The parts to replace: by default the secrets. */
export function rotationOf(flags: EndpointFlags): EndpointRotation {
  const { makeToken, makeSecret, keepOld } = flags
  const token = makeToken ? (true as const) : tokenOf(flags)
  const given = secretsOf('--secret', flags.secret, flags.secretFile)
  const made = makeSecret ? kindOf(makeSecret) : token === undefined ? true : undefined
  const secrets = given.length > 0 ? given : made
  return defined({ token, secrets, keepOldSeconds: keepOld })
}

/** Which audience a later change has is known to the storage alone; without one here, either will do. */
function checkEvent(name: string, audience: Endpoint['audience'] | undefined): void {
  const forHost = hostEventName(name)
  const forIntegration = webhookName(name)
  if (noticeTypes.some((type) => type === name || type === `${name}Hook`)) return
  const known = audience === 'host' ? forHost : audience === 'integration' ? forIntegration : (forHost ?? forIntegration)
  if (known) return
  const ofHost = Object.keys(hostCatalogue)
  const ofIntegration = Object.keys(catalogue)
  const lists = audience === 'host' ? [ofHost] : audience === 'integration' ? [ofIntegration] : [ofIntegration, ofHost]
  const near = lists.map((names) => similarNames(name, names)).find(({ length }) => length > 0) ?? []
  const hooks = (near.length > 0 ? near : ofHost).map((each) => `${each}Hook`)
  const all = audience === 'host' ? `allowed: ${hooks.join(', ')}` : '`folkmoot trigger --list` shows all'
  const whose = (forHost ?? forIntegration) ? ` for --audience ${audience}` : ''
  const remedy = near.length > 0 ? `did you mean ${hooks.join(' or ')}?` : all
  throw new UsageError(`there is no --event ${JSON.stringify(name.slice(0, 100))}${whose}: ${remedy}`)
}
