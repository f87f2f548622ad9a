/** Ten tasks of an admin, each with the shortest calls of tools that do it. Whatever a call is given was seen before, or is in the task. */

/** What a call returns. */
export type Result = Record<string, unknown> & { readonly items: readonly Record<string, unknown>[] }

/** Calls a tool. A result without a list has none. */
export type Agent = (tool: string, given?: Record<string, unknown>) => Promise<Result>

export interface Task {
  /** As a person says it. */
  readonly task: string
  /** @returns whether it is done */
  readonly play: (agent: Agent) => Promise<boolean>
}

const first = ({ items }: Result): Record<string, unknown> => items[0] ?? {}
const id = (record: Record<string, unknown>): string => String(record['id'])

export const tasks: readonly Task[] = [
  {
    task: 'Who is grace@example.org, and which plans does she have?',
    async play(agent) {
      const member = await agent('members_by_email', { email: 'grace@example.org' })
      const plans = await agent('member_plans_list', { member_id: id(member) })
      return member['first_name'] === 'Grace' && plans.items.length === 0
    },
  },
  {
    task: 'How many members have joined since 2020-01-01?',
    async play(agent) {
      const page = await agent('members_list', { created_after: '2020-01-01T00:00:00Z', limit: 1, count: true })
      return page['total_count'] === 6
    },
  },
  {
    task: 'List all members, two at a time.',
    async play(agent) {
      const seen = new Set<string>()
      let page = await agent('members_list', { limit: 2 })
      for (; ; page = await agent('members_list', { cursor: page['next_cursor'] })) {
        for (const member of page.items) seen.add(id(member))
        if (page['next_cursor'] === null) return seen.size === 6
      }
    },
  },
  {
    task: 'Tag Grace as volunteer.',
    async play(agent) {
      const member = first(await agent('members_list', { q: 'Grace' }))
      const tag = await agent('tags_create', { body: { title: 'volunteer' } })
      await agent('member_tags_create', { member_id: id(member), body: { tag_id: id(tag) } })
      return (await agent('members_list', { tag_id: id(tag) })).items.length === 1
    },
  },
  {
    task: 'Publish a post with the title "Open studio" in the space Studio.',
    async play(agent) {
      const space = (await agent('spaces_list')).items.find(({ name }) => name === 'Studio') ?? {}
      const post = await agent('posts_create', { body: { space_id: id(space), title: 'Open studio', description: 'Come in.' } })
      return post['title'] === 'Open studio'
    },
  },
  {
    task: 'Delete the comment that advertises watches, on the post Welcome, but show first what that changes.',
    async play(agent) {
      const post = first(await agent('posts_list', { q: 'Welcome' }))
      const comment =
        (await agent('comments_list', { post_id: id(post) })).items.find(({ text }) => /watches/.test(String(text))) ?? {}
      const given = { post_id: id(post), id: id(comment) }
      const shown = await agent('comments_delete', { ...given, preview: true })
      await agent('comments_delete', { ...given, if_preview: shown['token'] })
      return !/watches/.test(JSON.stringify(await agent('comments_list', { post_id: id(post) })))
    },
  },
  {
    task: 'Remove Mallory from the network.',
    async play(agent) {
      const member = first(await agent('members_list', { q: 'Mallory' }))
      const shown = await agent('members_remove_from_network', { id: id(member), preview: true })
      await agent('members_remove_from_network', { id: id(member), if_preview: shown['token'] })
      return (await agent('members_list', { q: 'Mallory' })).items.length === 0
    },
  },
  {
    task: 'Why did the webhook at /broken not get the post Welcome?',
    async play(agent) {
      const endpoint = endpointsOf(await agent('deliveries_status')).find(({ path }) => String(path).endsWith('/broken')) ?? {}
      const { endpoint_id } = endpoint
      const delivery = first(await agent('deliveries_list', { endpoint_id, state: 'dead', event_type: 'PostCreatedHook' }))
      const explained = await agent('deliveries_explain', { endpoint_id, event_id: delivery['event_id'] })
      return /500/.test(JSON.stringify(explained)) && /out of paint/.test(JSON.stringify(explained))
    },
  },
  {
    task: 'Does the webhook at /broken work again? Send it a test.',
    async play(agent) {
      const endpoint = endpointsOf(await agent('deliveries_status')).find(({ path }) => String(path).endsWith('/broken')) ?? {}
      const tested = await agent('deliveries_test', { endpoint_id: endpoint['endpoint_id'] })
      return tested['status'] === 500
    },
  },
  {
    task: 'Send again what failed for good, but show first how much that is.',
    async play(agent) {
      const shown = await agent('deliveries_resend', { all: true, preview: true })
      const resent = await agent('deliveries_resend', { all: true, if_preview: shown['token'] })
      return Number(shown['would_resend']) > 0 && resent['done'] === shown['would_resend']
    },
  },
]

const endpointsOf = ({ endpoints }: Result): readonly Record<string, unknown>[] =>
  Array.isArray(endpoints) ? (endpoints as Record<string, unknown>[]) : []
