import { portOf } from '../../port-of.ts'
import type { Received } from '../http/receiver.ts'
import { ownCommand } from '../own-project.ts'

export interface BannerFacts {
  readonly url: string
  readonly network_id: string | null
  readonly token: string | null
  readonly storage: string
  readonly outbox: string
  /** The directory of uploads. */
  readonly assets: string
  readonly secured: boolean
  /** The built-in receiver's address, where there is one. */
  readonly receiver: string | null
  /** The sentence about faults that the server makes on purpose. */
  readonly faults: string | null
  /** The address of the figures, where there are some. */
  readonly metrics: string | null
  /** The control file, through which commands reach a server whose storage is its own. */
  readonly control: string | null
  /** A link that lets one person into the panel, once. */
  readonly panel: string | null
  /** Whether there is no network yet. */
  readonly isEmpty: boolean
  /** The sentence about that link, if it opens only at another origin. */
  readonly panelHint: string | null
}

/** A path as a shell takes it. */
const quoted = (path: string): string => (/^[\w./:\\@%+=,-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`)

export function banner(facts: BannerFacts): string {
  const {
    url,
    network_id,
    token,
    storage,
    outbox,
    assets,
    secured,
    receiver,
    faults,
    metrics,
    control,
    panel,
    isEmpty,
    panelHint,
  } = facts
  const command = ownCommand()
  const lines = [
    '',
    `  folkmoot listens on ${url}`,
    '',
    `  API        ${url}/admin/v1/networks/${network_id ?? '{network_id}'}/`,
    `  OpenAPI    ${url}/admin/v1/spec.json and ${url}/webhooks/v1/spec.json`,
    `  Storage    ${storage}`,
    `  Outbox     ${outbox}`,
    `  Uploads    ${assets}`,
  ]
  if (metrics) lines.push(`  Metrics    ${metrics}`)
  if (panel)
    lines.push(
      `  Panel      ${panel}`,
      '             (works once, for an hour; another one:)',
      `             ${command} panel-link ${control ? `--server ${quoted(control)}` : `--port ${portOf(url)}`}`,
    )
  if (panel && panelHint) lines.push(`             ${panelHint}`)
  if (control && !storage.startsWith('lowdb:')) lines.push(`  Commands   reach it with --server ${control}`)
  if (!secured)
    lines.push(
      '',
      '  Plain HTTP is refused with 403. Give --tls-cert and --tls-key, --trust-proxy behind a proxy, or --allow-http.',
    )
  if (faults) lines.push('', `  ${faults}`)
  if (token)
    lines.push(
      '',
      '  Try it:',
      '',
      `  curl -X POST ${url}/admin/v1/networks/${network_id}/posts \\`,
      `    -H 'Authorization: Bearer ${token}' \\`,
      `    -H 'Content-Type: application/json' \\`,
      `    -d '{"space_id": 2001, "title": "Hello"}'`,
    )
  if (isEmpty) {
    const where = control ? `--server ${quoted(control)}` : `--storage ${quoted(storage)}`
    lines.push(
      '',
      '  There is no network yet. Make one, and a key for its API:',
      '',
      `  ${command} networks create ${where} \\`,
      "    --subdomain paint-pals --title 'Paint Pals' --owner-email ada@example.org --owner-name 'Ada Ash'",
      `  ${command} keys create ${where} --name Connector --scope '*'`,
    )
  }
  if (receiver) lines.push('', `  Webhooks go to the built-in receiver at ${receiver}; they appear below.`)
  return [...lines, ''].join('\n')
}

export function scroll({ event_type, event_id, bytes, changed }: Received): string {
  return `  ← ${event_type.padEnd(32)} ${event_id}  ${bytes} bytes${changed === undefined ? '' : `, changed ${changed}`}`
}
