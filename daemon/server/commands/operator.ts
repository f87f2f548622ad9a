/** The community that a command works on: the one of a running server where there is one, else opened for the command. */

import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import { realPath } from '../../../adapters/files/process-lock.ts'
import { refusedByDefault } from '../../../lib/base/reach.ts'
import { withoutPassword } from '../../../lib/base/without-password.ts'
import type { Ports } from '../../../lib/ports.ts'
import { isStorageError } from '../../../lib/storage/contract.ts'
import type { NetworkRow } from '../../../lib/storage/tables/administration.ts'
import type { EncryptionFlags } from '../../encryption-keys.ts'
import { plain } from '../../json.ts'
import { fault, type Output } from '../../output.ts'
import { portOf } from '../../port-of.ts'
import { encryptionKeysOf } from '../../read-encryption-keys.ts'
import { about, CommandFailure, UsageError } from '../../usage.ts'
import { commandActor } from '../../user.ts'
import { serverAt } from '../control/call-control.ts'
import { type Operator, Previewed, previewing, previewsOf, type ServerOperator } from '../control/calls.ts'
import { runningServers } from '../control/own-directory.ts'
import { controlFileOf } from '../control/place.ts'
import { auditInbox, refusedText } from '../operate/audit-inbox.ts'
import { storageName } from '../storage/name.ts'
import { fileOfStorage, openStorage } from '../storage/open.ts'

export interface StorageFlags extends EncryptionFlags {
  readonly storage: string
  readonly outbox?: string
  /** The control file of a running server, instead of a storage. */
  readonly server?: string
  /** The directory of uploads, for a command that removes some. A running server knows its own. */
  readonly assets?: string
  readonly json?: boolean
  /** Whether the command shows what it would change, and changes nothing. */
  readonly preview?: boolean
  readonly wide?: boolean
}

/** The flags of a command about one network; with one network only, its name may be omitted. */
export interface NetworkFlags extends StorageFlags {
  readonly network?: string
}

/**
 * Runs `work` on the community of a storage, and always closes it afterwards.
 * @param missing whether a missing storage is created
 * @throws UsageError, StorageError, ApiError
 */
export async function withOperator<T>(
  flags: StorageFlags,
  out: Output,
  work: (operator: Operator) => Promise<T>,
  missing: 'create' | 'refuse' = 'refuse',
): Promise<T> {
  const running = await runningServer(flags)
  if (running) return work(running)
  const community = await openCommunity(flags, out, missing).catch(async (error: unknown) => {
    if (!isStorageError(error) || error.code !== 'locked') throw error
    // It may have started since we looked.
    const started = await runningServer(flags)
    if (started) return { operator: started, close: async () => {} }
    // The remedies of a storage are those of a program that opens it.
    const { message } = isStorageError(error.cause) ? error.cause : error
    const remedy = 'which takes no commands: end it, or make its keys and endpoints from its own code'
    throw about(new UsageError(`${message}, ${remedy}`, { cause: error }), 'storage')
  })
  try {
    return await work(community.operator)
  } finally {
    await community.close()
  }
}

/** Refusals that a preview names. */
const shownRefusals = 20

/** `row 2, no address: email must be …` */
const refusalText = ({ reason, ...who }: { readonly reason: string }): string => {
  const names = Object.entries(who).flatMap(([name, value]) =>
    typeof value === 'object' || typeof value === 'boolean' ? [] : [`${name} ${value}`],
  )
  return plain(`${names.join(', ')}: ${reason}`)
}

/**
 * The same for work that changes something by one call. With `--preview`, it ends there and shows what the call would change.
 * @throws UsageError, StorageError, ApiError
 */
export async function withChanges(
  flags: StorageFlags,
  out: Output,
  work: (operator: Operator) => Promise<void>,
  missing: 'create' | 'refuse' = 'refuse',
): Promise<void> {
  if (!flags.preview) return withOperator(flags, out, work, missing)
  try {
    await withOperator(flags, out, (operator) => work(previewing(operator)))
  } catch (error) {
    if (!(error instanceof Previewed)) throw error
    const { token: _, ...shown } = error.preview
    const refused = (shown.refusals ?? []).slice(0, shownRefusals).map((each) => `  refused: ${refusalText(each)}`)
    out.line(flags.json ? JSON.stringify(shown) : [`${shown.sentence}.`, ...refused].join('\n'))
  }
}

/** The same on the network that `--network` names, or on the only one. */
export const withNetwork = <T>(
  flags: NetworkFlags,
  out: Output,
  work: (operator: Operator, network: NetworkRow) => Promise<T>,
): Promise<T> => withOperator(flags, out, async (operator) => work(operator, await networkOf(operator, flags.network)))

/** The same for work that changes something. */
export const withNetworkChanges = (
  flags: NetworkFlags,
  out: Output,
  work: (operator: Operator, network: NetworkRow) => Promise<void>,
): Promise<void> => withChanges(flags, out, async (operator) => work(operator, await networkOf(operator, flags.network)))

async function openCommunity(flags: StorageFlags, out: Output, missing: 'create' | 'refuse') {
  const { storage: address, outbox, assets } = flags
  const encryptionKeys = encryptionKeysOf(flags)
  const opened = await openStorage(address, outbox, out.warn, missing)
  const { storage } = opened
  const { createCommunity } = await import('../../../lib/index.ts')
  const ports = assets === undefined ? {} : await storeIn(assets)
  const community = createCommunity({ storage, encryptionKeys, ports })
  const onFault = (error: unknown) => out.warn(`the audit's inbox cannot be read: ${fault(error)}`)
  const inbox = auditInbox(community, opened.outbox, (files) => out.warn(refusedText(files)), onFault)
  const calls = inbox.over(community).by({ actor: commandActor() })
  const addressWarning = async (url: string) => refusedByDefault(url)
  return {
    operator: { ...calls, outbox: async () => opened.outbox, addressWarning, previewOf: previewsOf(community) },
    close: () => community.close(),
  }
}

async function storeIn(directory: string): Promise<Ports> {
  const [{ directoryAssets }, { assetsPath }] = await Promise.all([
    import('../../../adapters/ports/directory-assets.ts'),
    import('../http/assets.ts'),
  ])
  return { assets: directoryAssets({ directory, baseUrl: assetsPath }) }
}

/** The server that runs on a storage or was named, if commands can reach one. */
export const runningServer = (flags: StorageFlags): Promise<ServerOperator | undefined> =>
  serverOf(flags).catch((error: unknown) => {
    throw about(error, flags.server === undefined ? 'storage' : 'server')
  })

async function serverOf({ server, storage }: StorageFlags): Promise<ServerOperator | undefined> {
  if (server !== undefined) {
    if (/^https?:/i.test(server)) throw await notAControl(server)
    const named = await serverAt(server)
    if (!named)
      throw new CommandFailure(
        `no server runs at ${withoutPassword(server)}: take the \`control\` that \`folkmoot serve --json\` prints`,
      )
    return named
  }
  const file = storage.startsWith('lowdb:') ? fileOfStorage(storage) : undefined
  if (file === undefined || !existsSync(dirname(file))) return undefined
  return serverAt(controlFileOf(await realPath(file)))
}

/** The address of the API in place of a control file: where the control of that server is, if that can be seen. */
async function notAControl(address: string): Promise<UsageError> {
  const given = URL.parse(address)
  const port = given ? portOf(given.origin) : undefined
  const here = (await runningServers()).filter(({ url }) => portOf(url) === port)
  const controls = here.map(({ control }) => `--server ${control}`).join(' or ')
  const remedy =
    controls === '' ? 'take the `control` that `folkmoot serve --json` prints, or give its --storage' : `give ${controls}`
  return new UsageError(
    `${withoutPassword(address)} is the address of the API, and --server takes the control file of a server: ${remedy}`,
  )
}

/** Which server, if neither its control file nor its storage is named: the one on a port, or the only one of this user. */
export interface ServerQuery {
  readonly storage?: string | undefined
  readonly port?: number | undefined
}

/**
 * A server of this user on this machine, by its storage or its port.
 * @throws CommandFailure if there is none
 * @throws UsageError if there are several
 */
export async function soughtServer({ storage, port }: ServerQuery): Promise<ServerOperator> {
  const name = storage === undefined ? undefined : await storageName(storage)
  const all = await runningServers()
  const found = all.filter(
    ({ url, ...server }) => (name === undefined || server.storage === name) && (port === undefined || portOf(url) === port),
  )
  const [only, ...others] = found
  const server = only && others.length === 0 ? await serverAt(only.control) : undefined
  if (server) return server
  if (!only || others.length === 0)
    throw about(
      new CommandFailure(
        'no server runs there: start `folkmoot serve`, or give the control file that it prints with --server, as the user of the server',
      ),
      ...(storage === undefined ? [] : ['storage']),
    )
  const list = found.map(({ url, control }) => `\n  ${url} by --server ${control}`).join('')
  throw new UsageError(`several servers run; choose one by --port or --server:${list}`)
}

/**
 * The network of a command.
 * @param name its id or subdomain; may be left out where the storage holds exactly one
 * @param place where the command takes it
 * @throws UsageError that lists the networks
 */
export async function networkOf(operator: Operator, name: string | undefined, place = 'with --network'): Promise<NetworkRow> {
  if (name !== undefined) {
    const network = await operator.networks.find(name)
    if (network) return network
  }
  const all = await operator.networks.list()
  const [only] = all
  if (!only) throw new CommandFailure('there is no network: make one with `folkmoot networks create`')
  if (name === undefined && all.length === 1) return only
  const shown = all.slice(0, 20).map(({ id, subdomain }) => `${id} (${subdomain})`)
  const list = `${shown.join(', ')}${all.length > shown.length ? ', … (`folkmoot networks list` shows all)' : ''}`
  if (name === undefined) throw new UsageError(`choose a network ${place}: ${list}`)
  throw about(new CommandFailure(`there is no network ${JSON.stringify(name)}; there are ${list}`), 'network')
}
