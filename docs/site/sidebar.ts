/** The site's pages in their four parts. A test compares the list with the files of `docs/`. */

import { type EventGroup, eventGroups, hostEvents } from './event-groups.ts'

/** A page, a page with those below it, or a group of pages. The link is the path of the file in `docs/`, without `.md`. */
export interface Item {
  readonly text: string
  readonly link?: string
  readonly items?: readonly Item[]
}

export interface Part {
  readonly text: string
  readonly items: readonly Item[]
}

const page = (link: string, text: string, items?: readonly Item[]): Item => ({
  text,
  link: `/${link}`,
  ...(items ? { items } : {}),
})

const eventItem = ({ title, names }: EventGroup): Item => ({
  text: title,
  items: names.map((name) => page(`events/${name}Hook`, name)),
})

export const parts: readonly Part[] = [
  {
    text: 'Tutorial',
    items: [page('tutorial', 'From an empty folder to a webhook'), page('playground', 'Playground')],
  },
  {
    text: 'How-to guides',
    items: [
      page('hosts', 'Mount it in your server', [
        page('hosts/others', 'Other hosts'),
        page('hosts/bundlers', 'Bundlers'),
        page('hosts/nginx', 'Behind nginx'),
      ]),
      page('embedding', 'Embed it in your product', [
        page('embedding/members', 'Members, consent, erasure'),
        page('embedding/previews', 'Preview a change'),
        page('embedding/mail', 'Send the mails'),
        page('embedding/events', 'Hooks and host events'),
        page('embedding/keys', 'Keys, encryption, audit'),
        page('embedding/limits', 'Bounds and rate limits'),
        page('embedding/ports', 'Links, files, recurrence, phones'),
      ]),
      page('panel', 'Show the admin panel', [page('panel/pages', 'Pages of the panel')]),
      page('client', 'Call the API'),
      page('agents', 'Let agents work'),
      page('receiver', 'Check deliveries in your app'),
      page('webhooks', 'Webhooks', [
        page('webhooks/register', 'Register an endpoint'),
        page('webhooks/receive', 'Receive'),
        page('webhooks/verify', 'Verify'),
        page('webhooks/channels', 'Slack, Teams and Discord'),
        page('webhooks/deliver', 'Deliver: retries, order, circuit'),
      ]),
      page('operating', 'Run it as a service', [
        page('operating/install', 'Install'),
        page('operating/configure', 'Configure'),
        page('operating/connections', 'Proxies and certificates'),
        page('operating/encryption', 'Encryption keys'),
        page('operating/several-relays', 'Several relays'),
        page('operating/scale', 'Several databases'),
        page('operating/manage', 'Manage'),
        page('operating/watch', 'Watch'),
        page('operating/inspect', 'Inspect and resend'),
        page('operating/repair', 'Repair'),
      ]),
      page('upgrading', 'Upgrade'),
      page('storage', 'Choose a storage', [page('storage/own', 'Write your own storage')]),
      page('host-transactions', 'Share transactions'),
      page('moving', 'Move a network'),
      page('testing', 'Test your application'),
    ],
  },
  {
    text: 'Reference',
    items: [
      page('operations', 'Operations', [
        page('operations/abuse_reports', 'Abuse reports'),
        page('operations/answers', 'Answers'),
        page('operations/assets', 'Assets'),
        page('operations/badges', 'Badges'),
        page('operations/collections', 'Collections'),
        page('operations/comments', 'Comments'),
        page('operations/courseworks', 'Courseworks'),
        page('operations/custom_fields', 'Custom fields'),
        page('operations/events', 'Events'),
        page('operations/invites', 'Invites'),
        page('operations/me', 'Me'),
        page('operations/members', 'Members'),
        page('operations/mute', 'Mute'),
        page('operations/networks', 'Networks'),
        page('operations/options', 'Options'),
        page('operations/password_resets', 'Password resets'),
        page('operations/plan_members', 'Members of plans'),
        page('operations/space_members', 'Members of spaces'),
        page('operations/plans', 'Plans'),
        page('operations/polls', 'Polls'),
        page('operations/posts', 'Posts'),
        page('operations/purchases', 'Purchases'),
        page('operations/reactions', 'Reactions'),
        page('operations/rsvps', 'RSVPs'),
        page('operations/spaces', 'Spaces'),
        page('operations/subscriptions', 'Subscriptions'),
        page('operations/tags', 'Tags'),
      ]),
      page('events', 'Webhook events', [...eventGroups, hostEvents].map(eventItem)),
      page('errors', 'Errors'),
      page('scopes', 'Scopes'),
      page('commands', 'Commands', [
        page('commands/start', 'folkmoot: Start'),
        page('commands/administer', 'folkmoot: Administer'),
        page('commands/people', 'folkmoot: People'),
        page('commands/webhooks', 'folkmoot: Webhooks'),
        page('commands/data', 'folkmoot: Data'),
        page('commands/for-programs', 'folkmoot: For programs'),
        page('commands/relay-run', 'folkmoot-relay: Run'),
        page('commands/relay-look', 'folkmoot-relay: Look'),
        page('commands/relay-act', 'folkmoot-relay: Act'),
      ]),
      page('options', 'Options'),
      page('client-methods', 'Methods of the client'),
      page('storage-example', 'A storage, whole'),
      page('host-tables-example', 'A host’s own table, whole'),
      page('interface', 'Rules of the interface'),
      page('gaps', 'Settled gaps'),
    ],
  },
  {
    text: 'Explanation',
    items: [
      page('concepts', 'Concepts'),
      page('security', 'Security'),
      page('performance', 'Performance', [
        page('performance/large', 'Filters and large requests'),
        page('performance/relay', 'The relay'),
      ]),
    ],
  },
]
