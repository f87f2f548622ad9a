/** The site's pages in their four parts. A test compares the list with the files of `docs/`. */

/** A page, or a page with those below it. The link is the path of the file in `docs/`, without `.md`. */
export interface Item {
  readonly text: string
  readonly link: string
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

export const parts: readonly Part[] = [
  { text: 'Tutorial', items: [page('tutorial', 'From an empty folder to a webhook')] },
  {
    text: 'How-to guides',
    items: [
      page('hosts', 'Mount it in your server'),
      page('embedding', 'Embed it in your product'),
      page('panel', 'Show the admin panel'),
      page('client', 'Call the API'),
      page('agents', 'Let agents work'),
      page('receiver', 'Check deliveries in your app'),
      page('webhooks', 'Webhooks'),
      page('operating', 'Run it'),
      page('storage', 'Choose or write a storage'),
      page('host-transactions', 'Share transactions'),
      page('moving', 'Move a network'),
      page('testing', 'Test your application'),
    ],
  },
  {
    text: 'Reference',
    items: [
      page('operations', 'Operations'),
      page('events', 'Events'),
      page('errors', 'Errors'),
      page('scopes', 'Scopes'),
      page('options', 'Options'),
      page('client-methods', 'Methods of the client'),
      page('storage-example', 'A storage, whole'),
      page('host-tables-example', 'A host’s own table, whole'),
      page('gaps', 'Answers to open questions'),
    ],
  },
  {
    text: 'Explanation',
    items: [page('concepts', 'Concepts'), page('performance', 'Performance')],
  },
]
