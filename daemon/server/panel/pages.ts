/** The pages around the panel of a server: how to get in, and the way out. */

import { bare } from '../../../lib/panel/layout/layout.ts'
import { assetsOf } from '../../../lib/panel/request/assets.ts'
import { type PanelResponse, page } from '../../../lib/panel/request/respond.ts'
import { relative } from '../../../lib/panel/route.ts'
import { type Html, html } from '../../../lib/panel/ui/html.ts'
import { ownCommand } from '../own-project.ts'

/** @param here the path of the page behind the base path of the panel and its slash: links are relative to it */
async function around(title: string, content: Html, status: number, here = ''): Promise<PanelResponse> {
  const { css, js } = await assetsOf({})
  return page(
    bare({ title, brand: {}, css: relative(here, css), js: relative(here, js) }, html`<h1>${title}</h1>${content}`),
    status,
  )
}

/** The command for a link. The port is no secret to anyone who got here; the storage and its path may be one. */
const command = (port: number): Html => html`<code>${ownCommand()} panel-link --port ${port}</code>`

/** For visitors who are not signed in. @param here the path of the page that they wanted */
export const signInPage = (port: number, here: string): Promise<PanelResponse> =>
  around(
    'Sign in',
    html`<p>You need a link to enter. Run ${command(port)} on the machine of this server, as the user that it runs as.</p>`,
    403,
    here,
  )

/** For a link that is unknown, used or over. */
export const deadLinkPage = (port: number): Promise<PanelResponse> =>
  around(
    'This link does not work any more',
    html`<p>Each link works once, and for a limited time. Run ${command(port)} for a new one.</p>`,
    403,
  )

/** For a link that was opened on a page of another site: browsers send the cookie only from a page of this one. */
export const enterPage = (): Promise<PanelResponse> =>
  around('You are signed in', html`<p><a class="button primary" href="./">Open the panel</a></p>`, 200)

export const signOutPage = (): Promise<PanelResponse> =>
  around(
    'Sign out',
    html`<form method="post"><button class="primary">Sign out</button> <a href="./">Back to the panel</a></form>`,
    200,
  )

export const signedOutPage = (port: number): Promise<PanelResponse> =>
  around('You are signed out', html`<p>Run ${command(port)} for a link to enter again.</p>`, 200)

/** For a request that cannot be served. */
export const refusedPage = (status: number, text: string): Promise<PanelResponse> =>
  around('Not possible', html`<p>${text}</p>`, status)
