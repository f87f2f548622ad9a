/** The panel of a community for one test, as a browser without JavaScript sees it. */
import { createPanel, type PanelOptions, type Visitor } from '../../../lib/panel/index.ts'
import { createTestCommunity } from '../../support/community.ts'

/** A page as a person sees it. */
export interface Seen {
  readonly status: number
  readonly text: string
  readonly headers: Headers
}

export const admin: Visitor = { actor: 'ada@example.org', networks: 'all', access: 'all' }

export async function createTestPanel(visitor: Visitor | null = admin, options: Partial<PanelOptions> = {}) {
  const test = await createTestCommunity()
  const faults: unknown[] = []
  const panel = createPanel(test.community, { authorize: () => visitor, onError: (error) => faults.push(error), ...options })
  const origin = 'https://panel.test'
  const base = options.basePath ?? '/admin/panel'

  async function send(path: string, init: RequestInit = {}): Promise<Seen> {
    const response = await panel(new Request(`${origin}${base}/${path}`, init))
    if (!response) throw new Error(`${path} is not the panel's`)
    return { status: response.status, text: await response.text(), headers: response.headers }
  }
  /** A form of the panel, as a browser posts it. */
  const post = (path: string, fields: [string, string][] | Record<string, string> = {}) =>
    send(path, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'same-origin' },
      body: new URLSearchParams(fields).toString(),
    })
  const other = await test.community.networks.create({
    ...{ id: '2', subdomain: 'other', title: 'Other' },
    owner: { email: 'owner@example.org', first_name: 'Bob', last_name: 'Host' },
  })
  return { ...test, panel, faults, send, get: (path: string) => send(path), post, other: other.network }
}
