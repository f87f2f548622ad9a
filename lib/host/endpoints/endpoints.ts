import { isoTime } from '../../base/clock.ts'
import { fail, found, invalid } from '../../errors.ts'
import { chatOf, maskedPath, shownUrl } from '../../outbox/chat.ts'
import { lockNetwork } from '../../rules/members.ts'
import type { Settings } from '../../settings.ts'
import type { Patch } from '../../storage/contract.ts'
import type { HostTx } from '../../storage/scoped.ts'
import type { Id } from '../../storage/table.ts'
import { type EndpointRow, webhookEndpoints } from '../../storage/tables/administration.ts'
import { checkArgument, idOf } from '../arguments.ts'
import type { ChangeResult, Changes } from '../audit/changes.ts'
import {
  addedEndpoint,
  changedCredentials,
  deletedEndpoint,
  revealedEndpoint,
  rotatedEndpoint,
  switchedEndpoint,
  updatedEndpoint,
} from '../audit/endpoint-lines.ts'
import type { Networks } from '../networks.ts'
import type {
  Endpoint,
  EndpointChanges,
  EndpointCredentials,
  EndpointRotation,
  NewEndpoint,
  RegisteredEndpoint,
  RotatedEndpoint,
} from './endpoint.ts'
import { type EndpointInput, EndpointUpdate, NewUpsert, newEndpointToken, Rotation, Upsert } from './fields.ts'
import { publicKeysOf } from './public-keys.ts'
import { live, rotated, upsertOf } from './rotation.ts'
import {
  columnsOf,
  hasOver,
  keepApart,
  keepBounded,
  keepOneAuthorization,
  madeOf,
  refuseForChat,
  refuseMoved,
  refusePlain,
  refuseUnencrypted,
  sealedColumns,
  secretsLike,
  show,
} from './rows.ts'

/** The calls about webhook endpoints. A network is named by its id or subdomain. Relays read it from the outbox. */
export interface Endpoints {
  /**
   * Registers an endpoint, or changes the one of this network with the same URL: omitted fields stay. While the network is read-only
   * it takes an endpoint only as it is.
   * @returns also the token and the secrets that this call has made, and no others
   * @throws ApiError 404, 422 when a value is refused, or a new endpoint has no token, 503 when the network is read-only
   */
  upsert(endpoint: NewEndpoint): Promise<RegisteredEndpoint>
  /**
   * Changes only the named fields. A new token or secret replaces the old one immediately; `rotate` lets them overlap. With a `url` of
   * another origin, `token` and `headers` have to be given again.
   * @throws ApiError 404, 422
   */
  update(network: Id | number, id: Id | number, changes: EndpointChanges): Promise<Endpoint>
  /**
   * Shows the token and the signing secrets in plain text. Each call leaves a line in the audit.
   * @throws ApiError 404
   * @throws EncryptionError when they cannot be decrypted
   */
  reveal(network: Id | number, id: Id | number): Promise<EndpointCredentials>
  /**
   * Replaces the token, the signing secrets, or both. The old ones stay valid with the new ones for a time.
   * @throws ApiError 404, 422 when neither is named, or three old ones hold already
   * @throws EncryptionError when those before cannot be decrypted, unless `keepOldSeconds` is 0
   */
  rotate(network: Id | number, id: Id | number, rotation: EndpointRotation): Promise<RotatedEndpoint>
  /**
   * Sends to the endpoint again, also where a relay had stopped by itself.
   * @throws ApiError 404
   */
  enable(network: Id | number, id: Id | number): Promise<Endpoint>
  /**
   * Keeps the events of the endpoint and sends none of them.
   * @throws ApiError 404
   */
  disable(network: Id | number, id: Id | number): Promise<Endpoint>
  /** @throws ApiError 404 when there is no such network */
  list(network: Id | number): Promise<readonly Endpoint[]>
  /**
   * The endpoint, or `undefined` if it does not exist.
   * @throws ApiError 404 when there is no such network
   */
  find(network: Id | number, id: Id | number): Promise<Endpoint | undefined>
  /** @throws ApiError 404 when the network has no such endpoint */
  remove(network: Id | number, id: Id | number): Promise<Endpoint>
  /**
   * Puts every endpoint of a network into the outbox again, for a relay that has lost its store. Tokens and secrets that are in
   * plain text, or encrypted with a later key of `encryptionKeys`, are encrypted with the first one.
   * @throws ApiError 404
   */
  republish(network: Id | number): Promise<void>
  /**
   * Removes expired old tokens and secrets from the storage. Relays no longer use them in any case.
   * @throws ApiError 404
   */
  forgetOld(network: Id | number): Promise<void>
}

export function endpointsOf({ clock, limits, encryption, chance }: Settings, changes: Changes, networks: Networks): Endpoints {
  const now = () => isoTime(clock.now())

  /** One change of a network's endpoints at a time: one endpoint for each URL, and one order of records for relays. */
  async function change<T>(name: Id | number, work: (tx: HostTx) => Promise<ChangeResult<T>>, isAlways = false): Promise<T> {
    const { id } = await networks.show(name)
    const locked = async (tx: HostTx) => {
      await lockNetwork(tx)
      return work(tx)
    }
    return changes.change(id, now(), locked, { isAlways })
  }

  /** Refuses a new endpoint with every problem, the missing token included. */
  async function checkedUpsert(given: NewEndpoint) {
    try {
      return checkArgument('endpoints.upsert', Upsert, given, limits)
    } catch (error) {
      const { network, url, token, format }: Partial<NewEndpoint> = Object(given)
      if (token !== undefined || chatOf(format ?? null) !== null || (await isThere(network, url))) throw error
      return checkArgument('endpoints.upsert', NewUpsert, given, limits)
    }
  }

  /** Whether there is an endpoint with this address; neither is checked. */
  async function isThere(network: unknown, url: unknown): Promise<boolean> {
    const href = typeof url === 'string' ? URL.parse(url)?.href : undefined
    if (href === undefined) return false
    const rows = await list(network as Id).catch(() => [])
    return rows.some((row) => row.url === href)
  }

  /**
   * The endpoint with this address while the network is read-only, if it is as given: hosts register theirs at each start, and
   * have to start then, too.
   */
  async function standing(name: Id | number, fields: EndpointInput): Promise<Endpoint | undefined> {
    const { id, read_only } = await networks.show(name)
    if (!read_only) return undefined
    return changes.read(id, async (tx) => {
      const known = (await tx.find(webhookEndpoints, {})).find(({ url }) => url === fields.url)
      if (!known) return undefined
      const columns = await columnsOf(chance, fields, known)
      const before = Object.entries(await encryption.open(known))
      const wanted = Object.entries({ ...Object.fromEntries(before), ...columns })
      return JSON.stringify(wanted) === JSON.stringify(before) ? shown(known) : undefined
    })
  }

  /** Changes what is given, with the line of the audit. */
  async function write(tx: HostTx, before: EndpointRow, { url: named, ...rest }: EndpointInput) {
    // A caller that writes back what it was shown changes nothing.
    const isShown = before.format !== null && named === shownUrl(before)
    const given: EndpointInput = named === undefined || isShown ? rest : { ...rest, url: named }
    await keepApart(tx, given.url, before.id)
    await keepBounded(tx, given, before)
    const columns = await columnsOf(chance, given, before)
    refuseMoved(before, columns)
    const { url = before.url, client_identity = before.client_identity, ca = before.ca } = columns
    refusePlain({ url, client_identity, ca })
    const after = await save(tx, before, columns)
    // Credentials that cannot be decrypted are others than the new ones.
    const opened = await encryption.open(before).catch(() => undefined)
    return { result: after, audit: updatedEndpoint(before, after, changedCredentials(opened, columns)), columns }
  }

  async function save(tx: HostTx, before: EndpointRow, columns: Patch<EndpointRow>): Promise<EndpointRow> {
    if (columns.key !== undefined || columns.secrets !== undefined || columns.headers) await refuseUnencrypted(encryption, tx)
    const old = { old_keys: live(before.old_keys, clock.now()), old_secrets: live(before.old_secrets, clock.now()) }
    keepOneAuthorization({
      key: columns.key ?? before.key,
      headers: columns.headers === undefined ? before.headers : columns.headers,
    })
    const sealed = await sealedColumns(encryption, before, { ...old, ...columns })
    const row = found(await tx.update(webhookEndpoints, before.id, { ...sealed, updated_at: now() }), 'Endpoint')
    refuseForChat(row)
    await tx.append([upsertOf(row, clock.now())])
    return row
  }

  const changeOne = (
    name: Id | number,
    given: unknown,
    work: (tx: HostTx, row: EndpointRow) => Promise<ChangeResult<EndpointRow>>,
    isAlways = false,
  ) => {
    const id = idOf(given)
    return change(name, async (tx) => work(tx, found(await tx.get(webhookEndpoints, id), 'Endpoint')), isAlways)
  }
  /** Also while the network is read-only, as all that decides what a relay sends. */
  async function enabled(name: Id | number, id: unknown, wanted: boolean): Promise<Endpoint> {
    const work = async (tx: HostTx, before: EndpointRow) => {
      const after = await save(tx, before, { enabled: wanted })
      return { result: after, audit: [switchedEndpoint(before, after)] }
    }
    return shown(await changeOne(name, id, work, true))
  }
  const shown = (row: EndpointRow): Endpoint => show(row, clock.now())
  async function list(name: Id | number): Promise<readonly Endpoint[]> {
    const { id } = await networks.show(name)
    return (await changes.read(id, (tx) => tx.find(webhookEndpoints, {}))).map(shown)
  }

  return {
    async upsert(given) {
      const { network, ...fields } = await checkedUpsert(given)
      const there = await standing(network, fields)
      if (there) return there
      return change(network, async (tx) => {
        const known = (await tx.find(webhookEndpoints, {})).find(({ url }) => url === fields.url)
        if (known) {
          const { result: row, audit, columns } = await write(tx, known, fields)
          return { result: { ...shown(row), ...madeOf(fields, columns) }, audit }
        }
        await keepBounded(tx, fields)
        const columns = await columnsOf(chance, fields)
        const { url = '', format = null, key = format === null ? undefined : '', ...rest } = columns
        if (url.endsWith(maskedPath)) fail(invalid('url'), 'url is masked: give the whole address')
        if (key === undefined)
          fail(invalid('token'), 'token is required: the bearer token that the receiver gets, true to make one, or null for none')
        keepOneAuthorization({ key, headers: rest.headers ?? null })
        refusePlain({ url, client_identity: rest.client_identity ?? null, ca: rest.ca ?? null })
        await refuseUnencrypted(encryption, tx)
        const { secrets = [], headers = null } = rest
        const stamp = { id: changes.newId(), created_at: now(), updated_at: now() }
        const sealed = await encryption.seal({ id: stamp.id, network_id: tx.network_id, key, secrets, headers })
        const made = await tx.insert(webhookEndpoints, {
          ...{ ...stamp, ...rest, url, format, key: sealed.key },
          ...{ secrets: sealed.secrets, headers: sealed.headers },
        })
        refuseForChat(made)
        await tx.append([upsertOf(made, clock.now())])
        return { result: { ...shown(made), ...madeOf(fields, columns) }, audit: [addedEndpoint(made)] }
      })
    },
    async update(name, id, given) {
      const fields = checkArgument('endpoints.update', EndpointUpdate, given, limits)
      return shown(await changeOne(name, id, (tx, row) => write(tx, row, fields)))
    },
    async reveal(name, given) {
      const id = idOf(given)
      const network = await networks.show(name)
      const work = async (tx: HostTx) => {
        const row = found(await tx.get(webhookEndpoints, id), 'Endpoint')
        const { key, secrets } = await encryption.open(row)
        return { result: { token: key || null, secrets }, audit: [revealedEndpoint(row)] }
      }
      return changes.change(network.id, now(), work, { isAlways: true })
    },
    async rotate(name, id, given) {
      const { token, secrets, keepOldSeconds } = checkArgument('endpoints.rotate', Rotation, given, limits)
      if (token === undefined && secrets === undefined)
        fail(invalid('token', 'secrets'), 'token or secrets is required: true to make a new one')
      let fresh: { readonly token?: string; readonly secrets?: readonly string[] } = {}
      const keepSeconds = keepOldSeconds ?? 86_400
      const row = await changeOne(name, id, async (tx, before) => {
        const opened = await encryption.open(before).catch((error: unknown) => {
          // A value that ends immediately isn't kept: it may have leaked.
          if (keepSeconds === 0) return before
          throw error
        })
        fresh = {
          ...(token === undefined ? {} : { token: token === true ? newEndpointToken(chance) : token }),
          ...(secrets === undefined ? {} : { secrets: await secretsLike(chance, secrets, before) }),
        }
        const public_keys = fresh.secrets === undefined ? {} : { public_keys: await publicKeysOf(fresh.secrets) }
        const after = await save(tx, before, { ...rotated(opened, fresh, keepSeconds, clock.now()), ...public_keys })
        return { result: after, audit: rotatedEndpoint(after, fresh, keepSeconds) }
      })
      return { endpoint: shown(row), ...fresh }
    },
    enable: (name, id) => enabled(name, id, true),
    disable: (name, id) => enabled(name, id, false),
    list,
    async find(name, given) {
      const id = idOf(given)
      const network = await networks.show(name)
      const row = await changes.read(network.id, (tx) => tx.get(webhookEndpoints, id))
      return row && shown(row)
    },
    async remove(name, given) {
      const id = idOf(given)
      return change(name, async (tx) => {
        const row = found(await tx.remove(webhookEndpoints, id), 'Endpoint')
        await tx.append([{ kind: 'endpoint', action: 'remove', id, network_id: tx.network_id }])
        return { result: shown(row), audit: [deletedEndpoint(row)] }
      })
    },
    republish(name) {
      const work = async (tx: HostTx) => {
        const rows = await tx.find(webhookEndpoints, {})
        const sealed = await Promise.all(rows.map((row) => encryption.seal(row)))
        for (const [place, { id, key, secrets, old_keys, old_secrets, headers }] of sealed.entries())
          if (JSON.stringify(sealed[place]) !== JSON.stringify(rows[place]))
            await tx.update(webhookEndpoints, id, { key, secrets, old_keys, old_secrets, headers })
        if (sealed.length > 0) await tx.append(sealed.map((row) => upsertOf(row, clock.now())))
        const subject = { type: 'network', id: tx.network_id, name: null } as const
        const line = { action: 'endpoints.republished', subject, details: { endpoints: sealed.length } } as const
        return { result: undefined, audit: sealed.length > 0 ? [line] : [] }
      }
      return change(name, work, true)
    },
    async forgetOld(name) {
      const { id, read_only } = await networks.show(name)
      // It goes on when the network does.
      if (read_only) return
      const over = (rows: readonly EndpointRow[]) => rows.filter((row) => hasOver(row, clock.now()))
      // As a rule there is nothing to do, and then nothing is written.
      const outdated = over(await changes.read(id, (tx) => tx.find(webhookEndpoints, {})))
      if (outdated.length === 0) return
      await change(id, async (tx) => {
        for (const row of over(await tx.find(webhookEndpoints, {})))
          await tx.update(webhookEndpoints, row.id, {
            old_keys: live(row.old_keys, clock.now()),
            old_secrets: live(row.old_secrets, clock.now()),
          })
        return { result: undefined, audit: [] }
      })
    },
  }
}
