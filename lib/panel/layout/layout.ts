/** The frame of every page: head, navigation, main part. */

import { may } from '../request/access.ts'
import { type PanelResponse, page } from '../request/respond.ts'
import type { View } from '../route.ts'
import type { Brand } from '../ui/brand.ts'
import { type Html, html, raw } from '../ui/html.ts'
import { note, own } from '../ui/parts.ts'

const hasMore = ({ visitor: { networks } }: View): boolean => networks === 'all' || networks.length > 1

export const nameOf = ({ name }: Brand): string => name ?? 'Community'

interface Frame {
  readonly title: string
  readonly brand: Brand
  /** Links to the assets. */
  readonly css: string
  readonly js: string
  readonly top: unknown
  /** `div` where the content brings its main part. */
  readonly main?: 'main' | 'div'
}

// A bundler would rewrite a tagged template that contains this, by a helper from another package.
const scriptEnd = raw('</script>')

const framed = ({ title, brand, css, js, top, main = 'main' }: Frame, content: unknown): Html => html`<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${title} · ${nameOf(brand)}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${css}">
<script type="module" src="${js}">${scriptEnd}
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
<header class="top"><div class="in">${top}</div></header>
<${main} id="main" class="in" tabindex="-1">${content}</${main}>
</body>
</html>`

const brandOf = (brand: Brand) => html`${brand.logo && html`<img src="${brand.logo}" alt="">`}<b>${nameOf(brand)}</b>`

/** The button that leaves; the host names its address. @param root links to a page of the panel */
export const signOutForm = (to: string | undefined, root: (path: string) => string): Html | '' =>
  to === undefined
    ? ''
    : html` <form method="post" action="${to.startsWith('/') ? to : root(to)}"><button class="plain">Sign out</button></form>`

/** On every page of a network that is read-only. */
const banner = (view: View): Html =>
  note(
    'warn',
    html`<p>This network is read-only: its API refuses every write, and so do the forms here. Reads and deliveries go on.${
      may(view.visitor, 'network.read_only') && html` <a href="${view.link('read-only')}">Take writes again</a>`
    }</p>`,
  )

/** A page of a network. @param status 422 with a form that is refused */
export function pageOf(
  view: View,
  title: string,
  content: unknown,
  status = 200,
  main: Frame['main'] = 'main',
): Promise<PanelResponse> {
  const { brand } = view.settings
  const top = html`
<div class="who">${brandOf(brand)}<span>${own(view.network.title)}</span>
<span class="end">${hasMore(view) && html`<a href="${view.root('')}">Networks</a> `}<span>${own(view.visitor.actor)}</span>${
    view.visitor.access === 'read' && html` <span class="badge">read only</span>`
  }${signOutForm(view.settings.signOut, view.root)}</span></div>
<nav class="main" aria-label="Panel"><ul>${view.navigation.map(
    ({ path, label }) =>
      html`<li><a href="${view.link(path)}" ${view.section === path && html`aria-current="page"`}>${label}</a></li>`,
  )}</ul></nav>`
  const body = framed(
    { title, brand, css: view.root(view.assets.css), js: view.root(view.assets.js), top, main },
    html`${view.network.read_only && banner(view)}${content}`,
  )
  return page(body, status)
}

/** A page without a network: the list of networks, and refusals. @param end what stands at the end of the first line */
export const bare = ({ end, ...frame }: Omit<Frame, 'top'> & { readonly end?: Html | '' }, content: unknown): Html =>
  framed({ ...frame, top: html`<div class="who">${brandOf(frame.brand)}<span class="end">${end}</span></div><p></p>` }, content)
