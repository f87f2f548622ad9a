/** Lines of the audit about endpoints: with their attributes, and of their credentials only the fact of a change. */
import { shownUrl } from '../../outbox/chat.ts'
import { attributes, credentialNames } from '../../outbox/endpoint-attributes.ts'
import { isSame } from '../../storage/changes.ts'
import type { Patch } from '../../storage/contract.ts'
import type { EndpointRow } from '../../storage/tables/administration.ts'
import { type Details, differences } from './details.ts'
import type { AuditLine, AuditSubject } from './line.ts'

const isCredential = (name: string): boolean => credentialNames.some((each) => each === name)
const shownNames = (Object.keys(attributes) as (keyof typeof attributes)[]).filter((name) => !isCredential(name))

const endpointSubject = ({ id, name, url }: Pick<EndpointRow, 'id' | 'name' | 'url'>): AuditSubject => ({
  type: 'endpoint',
  id,
  name: name ?? new URL(url).host,
})

const headerNames = ({ headers }: EndpointRow): Details => (headers ? { header_names: headers.map(({ name }) => name) } : {})

export const addedEndpoint = (row: EndpointRow): AuditLine => ({
  action: 'endpoint.added',
  subject: endpointSubject(row),
  details: {
    ...Object.fromEntries(shownNames.map((name) => [name, name === 'url' ? shownUrl(row) : row[name]])),
    signed: row.secrets.length > 0,
    ...headerNames(row),
  },
})

export const deletedEndpoint = (row: EndpointRow): AuditLine => ({
  action: 'endpoint.deleted',
  subject: endpointSubject(row),
  details: { url: shownUrl(row) },
})

export const revealedEndpoint = (row: EndpointRow): AuditLine => ({ action: 'endpoint.revealed', subject: endpointSubject(row) })

/**
 * The line of a changed endpoint; none if it has the same values as before.
 * @param credentials see `changedCredentials`
 */
export function updatedEndpoint(before: EndpointRow, after: EndpointRow, credentials: Details): readonly AuditLine[] {
  const { url, ...others } = differences(before, after, shownNames)
  const moved = url === undefined ? {} : { url: { from: shownUrl(before), to: shownUrl(after) } }
  const details = { ...moved, ...others, ...credentials }
  const names = Object.keys(details)
  if (names.length === 0) return []
  const isSwitched = names.length === 1 && names[0] === 'enabled'
  return [isSwitched ? switchedEndpoint(before, after) : { action: 'endpoint.updated', subject: endpointSubject(after), details }]
}

/** The line of an endpoint that was enabled or disabled: also if it was so before, because relays act on it again. */
export const switchedEndpoint = (before: EndpointRow, after: EndpointRow): AuditLine => ({
  action: after.enabled ? 'endpoint.enabled' : 'endpoint.disabled',
  subject: endpointSubject(after),
  details: differences(before, after, ['enabled']),
})

/**
 * In a word what becomes of each credential that gets another value.
 * @param opened the row before, decrypted; `undefined` if that is not possible
 * @param columns the change, in plain text
 */
export function changedCredentials(opened: EndpointRow | undefined, columns: Patch<EndpointRow>): Details {
  const { key, secrets, headers } = columns
  const before = opened?.secrets
  return {
    ...(key === undefined || key === opened?.key ? {} : { token: 'replaced' }),
    ...(secrets === undefined || isSame(secrets, before) ? {} : { secrets: wordFor(secrets, before) }),
    ...(headers === undefined || isSame(headers, opened?.headers)
      ? {}
      : { headers: wordFor(headers ?? [], opened && (opened.headers ?? [])) }),
  }
}

function wordFor(now: readonly unknown[], before: readonly unknown[] | undefined): string {
  if (now.length === 0) return 'removed'
  return before?.length === 0 ? 'added' : 'replaced'
}

/** One line for each rotated credential. */
export function rotatedEndpoint(
  row: EndpointRow,
  fresh: { readonly token?: string; readonly secrets?: readonly string[] },
  keep_old_seconds: number,
): readonly AuditLine[] {
  const subject = endpointSubject(row)
  const details = { keep_old_seconds }
  return [
    ...(fresh.token === undefined ? [] : [{ action: 'endpoint.token_rotated', subject, details } as const]),
    ...(fresh.secrets === undefined ? [] : [{ action: 'endpoint.secrets_rotated', subject, details } as const]),
  ]
}
