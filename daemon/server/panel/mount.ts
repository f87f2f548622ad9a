/** The panel below its path, loaded with its first request, and links to it. */
import type { RequestListener } from 'node:http'
import { inTurn } from '../../../adapters/http/node-turns.ts'
import { fail, refused } from '../../../lib/errors.ts'
import { systemClock } from '../../relay/clock.ts'
import { localUser } from '../../user.ts'
import type { PanelAddress } from './address.ts'
import { createLogins, linkSeconds, longestLinkSeconds } from './logins.ts'
import type { PanelParts } from './panel.ts'
import { panelPath } from './path.ts'

export interface LinkWishes {
  /** The id of the only network that is shown; every network without it. */
  readonly network?: string
  readonly read_only?: boolean
  /** Seconds until the link stops working, unless it is used: 1 hour by default. */
  readonly expires?: number
  /** The name for the audit; by default the user of the server. */
  readonly actor?: string
}

export interface PanelLink {
  readonly url: string
  readonly expires_at: string
  /** The sentence to show with it, if it opens only at another origin. */
  readonly hint?: string
}

export interface MountedPanel {
  /** Responds to the panel's paths, and leaves every other request to the next listener. */
  readonly listener: RequestListener
  /**
   * Makes a link that lets one person in, once.
   * @throws ApiError 403 if no link would open
   */
  link(wishes?: LinkWishes): PanelLink
}

/** @param address where links lead */
export function mountPanel(parts: Omit<PanelParts, 'logins'>, address: PanelAddress, next: RequestListener): MountedPanel {
  const { url, closed, hint } = address
  const logins = createLogins(systemClock)
  let loaded: Promise<RequestListener> | undefined
  const load = () => {
    loaded ??= import('./panel.ts').then(({ panelListener }) => panelListener({ ...parts, logins }))
    return loaded
  }
  return {
    listener(request, response) {
      const path = request.url?.split('?', 1)[0] ?? '/'
      if (path !== panelPath && !path.startsWith(`${panelPath}/`)) return next(request, response)
      inTurn(request, response, () => {
        load().then(
          (listener) => listener(request, response),
          (error: unknown) => {
            parts.onError(error, { task: 'panel' })
            response.destroy()
          },
        )
      })
    },
    link({ network, read_only = false, expires = linkSeconds, actor = localUser() } = {}) {
      if (closed !== undefined) fail(refused(closed))
      const rights = {
        actor,
        networks: network === undefined ? 'all' : [network],
        access: read_only ? 'read' : 'all',
      } as const
      const { code, expiresAt } = logins.link(rights, Math.min(Math.max(expires, 1), longestLinkSeconds) * 1000)
      const link = { url: `${url}${panelPath}/login?code=${code}`, expires_at: new Date(expiresAt).toISOString() }
      return { ...link, ...(hint === undefined ? {} : { hint }) }
    },
  }
}
