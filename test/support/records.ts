import type { Id } from '../../lib/storage/table.ts'
import type { TestCommunity } from './community.ts'
import type { Json } from './json.ts'

/** When the tests' clock stands still. */
export const now = '2026-11-20T10:00:00.000Z'

/** The network of a test community, as responses show it. */
export const demo = {
  id: '1',
  created_at: now,
  updated_at: now,
  subdomain: 'demo',
  title: 'Demo',
  subtitle: '',
  purpose: '',
  description: '',
}

type Sender = Pick<TestCommunity, 'send'>

const created = async ({ send }: Sender, id: string, parts: object): Promise<Json> => {
  const { status, body } = await send(id, parts)
  if (status !== 200 && status !== 201) throw new Error(`${id} answered ${status}: ${body?.error}`)
  return body
}

/** A member of the network, by the first part of their address. */
export const newMember = (test: Sender, name: string, fields: object = {}): Promise<Json> =>
  created(test, 'members.create', {
    body: { email: `${name}@example.org`, first_name: name, last_name: 'Test', ...fields },
  })

export const newSpace = (test: Sender, name = 'Garden'): Promise<Json> => created(test, 'spaces.create', { body: { name } })

export const newCollection = (test: Sender, name: string): Promise<Json> =>
  created(test, 'collections.create', { body: { name } })

export const newPost = (test: Sender, space_id: Id, fields: object = {}): Promise<Json> =>
  created(test, 'posts.create', { body: { space_id, title: 'Hello', description: 'Good morning', ...fields } })

export const newPoll = (test: Sender, space_id: Id, fields: object = {}): Promise<Json> =>
  created(test, 'polls.create', {
    body: { space_id, title: 'Which?', poll_type: 'multiple_choice', choices: ['Red', 'Blue'], ...fields },
  })

export const newComment = (test: Sender, post_id: Id, text = 'Well said', fields: object = {}): Promise<Json> =>
  created(test, 'comments.create', { params: { post_id }, body: { text, ...fields } })

/** A second network in the same storage, whose records no one in the first one may see. */
export async function neighbour({ community }: Pick<TestCommunity, 'community'>) {
  const { network, owner } = await community.networks.create({
    subdomain: 'neighbour',
    title: 'Neighbour',
    owner: { email: 'host@neighbour.example', first_name: 'Nora', last_name: 'Neighbour' },
  })
  const space = await community.call('spaces.create', { network: network.id, body: { name: 'Theirs' } })
  return { network, owner, space }
}

/** The ids of what a list shows. */
export const idsOf = (list: { readonly body: Json }): Id[] => list.body.items.map((item: Json) => item.id)

/** The types of some events, in order. */
export const typesOf = (events: readonly { readonly event_type: string }[]): string[] => events.map((event) => event.event_type)
