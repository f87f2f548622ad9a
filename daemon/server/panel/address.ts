/** Where links to the panel lead. A link on plain HTTP is refused, unless a setting of the server accepts that. */

/** The address of links, and the sentences for those that would not open. */
export interface PanelAddress {
  readonly url: string
  /** No request at all is accepted: there are no links. */
  readonly closed?: string
  /** The link opens at another origin, which the server does not have. */
  readonly hint?: string
}

/** The flags of `serve` by which people reach it. */
interface Reached {
  readonly allowHttp?: boolean | undefined
  readonly publicUrl?: string | undefined
  readonly tlsCert?: string | undefined
  readonly trustProxy?: boolean | undefined
}

/** @param listening the origin at which the server listens */
export function panelAddress({ allowHttp, publicUrl, tlsCert, trustProxy }: Reached, listening: string): PanelAddress {
  const url = publicUrl ?? listening
  if (allowHttp) return { url }
  if (!tlsCert && !trustProxy)
    return {
      url,
      closed:
        'a link to the panel would be refused: the server accepts HTTPS alone, and has none. Start it with --tls-cert and --tls-key, --trust-proxy behind a proxy, or --allow-http',
    }
  if (url.startsWith('https:')) return { url }
  return {
    url,
    hint: 'The link opens at the https origin of the proxy alone: give that as --public-url.',
  }
}
