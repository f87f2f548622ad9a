/** A request to a page: its visitor, its network, and the way to other pages. */
import type { Community } from '../community.ts'
import type { Actor } from '../relay/relay-admin.ts'
import type { Id } from '../storage/table.ts'
import type { NetworkRow } from '../storage/tables/administration.ts'
import type { PanelSettings } from './options.ts'
import type { PanelAction, Visitor } from './request/access.ts'
import type { ActingCalls } from './request/acting-user.ts'
import type { Assets } from './request/assets.ts'
import type { Form } from './request/form.ts'
import type { PanelResponse } from './request/respond.ts'

/** One request of a visitor to the pages of one network. */
export interface View {
  readonly community: Community
  readonly settings: PanelSettings
  readonly visitor: Visitor
  readonly by: Actor
  /** Changes in the name of the visitor. */
  readonly acting: ActingCalls
  readonly network: NetworkRow
  readonly id: Id
  readonly params: Readonly<Record<string, string>>
  readonly query: Form
  readonly form: Form
  readonly request: Request
  /** The first segment behind the network: `keys`. */
  readonly section: string
  readonly navigation: readonly Pick<Page, 'path' | 'label'>[]
  /** A link to a page of the network: `keys/5/revoke`. It is relative, so that it holds behind every prefix. */
  link(path: string, query?: Readonly<Record<string, string>>): string
  /** A link to a page of the panel, the assets included. */
  root(path: string): string
  readonly assets: Assets
}

interface Page {
  /** Behind the network: `keys/:id/revoke`. */
  readonly path: string
  /** Its name in the navigation; a page without one isn't in it. */
  readonly label?: string
  /** Set if its form may have a file or a long list: what to do with one that is too large. */
  readonly larger?: string
  handle(view: View): Promise<PanelResponse>
}

/** One page. `action` is the permission that it needs. `visit`: it only shows, to everyone who may see the network. */
export type Route =
  | (Page & { readonly method: 'GET'; readonly action: PanelAction | 'visit' })
  | (Page & { readonly method: 'POST'; readonly action: PanelAction })

/** The text of a segment; as it was called, if it is malformed. */
export function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}

/** A link relative to a page. @param here the path of the page behind the base path and its slash */
export function relative(here: string, path: string): string {
  return ('../'.repeat(here.split('/').length - 1) || './') + path
}
