/** The compiler's view of the library's types. These tests fail in `npm run check:types`, before they run. */
import { expect, expectTypeOf, test } from 'vitest'
import { ApiError, type Community, type Hooks, type OperationId, type WebhookEvent } from '../../lib/index.ts'
import { routesOf } from '../../lib/operation.ts'
import { operations } from '../../lib/operations.ts'
import type { EventOf, PostCreatedPayload, ReceivedEvent } from '../../lib/receiver/index.ts'
import { createTestCommunity } from '../support/community.ts'
import { createSeededCommunity, seeded } from '../support/seed.ts'

test('a hook that names the operation gets its body typed', async () => {
  const hooks: Hooks = {
    before: ({ id, body }) => {
      if (id === 'tags.create' && body.title === 'spam') throw new ApiError(422, { error: 'title is not allowed here' })
      // @ts-expect-error: a tag has a title, and no name
      if (id === 'tags.create' && body.name === 'spam') throw new Error('never')
    },
  }
  const { send } = await createTestCommunity({ hooks })
  expect((await send('tags.create', { body: { title: 'spam' } })).body).toEqual({ error: 'title is not allowed here' })
  expect((await send('tags.create', { body: { title: 'Oil' } })).status).toBe(201)
})

test('a hook that names the type of an event gets its payload typed', async () => {
  const seen: string[] = []
  const hooks: Hooks = {
    after: (event) => {
      if (event.event_type === 'MemberJoinedHook') seen.push(`${event.network_id} ${event.payload.member.first_name}`)
      // @ts-expect-error: this is the type of no event
      if (event.event_type === 'MemberJoined') seen.push('never')
    },
  }
  const { send, community } = await createTestCommunity({ hooks })
  await send('members.create', { body: { email: 'ada@example.org', first_name: 'Ada', last_name: 'Ash' } })
  await community.close()
  expect(seen).toEqual(['1 Ada'])
})

test('a receiver that names the type of an event gets its payload typed', () => {
  const titleOf = (event: WebhookEvent): string | undefined =>
    event.event_type === 'PostCreatedHook' ? event.payload.title : undefined
  const event = {
    event_id: 'a',
    event_timestamp: '2026-11-20T10:00:00.000Z',
    event_type: 'PostCreatedHook',
    payload: { title: 'Hi' },
  }
  expect(titleOf(event as WebhookEvent)).toBe('Hi')
})

test('a receiver names the type of a payload by its event', () => {
  const titleOf = ({ title }: PostCreatedPayload): string => title ?? 'untitled'
  const shown = (event: ReceivedEvent): string => {
    if (event.event_type === 'PostCreatedHook') return titleOf(event.payload)
    // @ts-expect-error: that is another payload
    return event.event_type === 'MemberJoinedHook' ? titleOf(event.payload) : event.event_type
  }
  const event = { event_id: 'a', event_timestamp: '2026-11-20T10:00:00.000Z', event_type: 'PostCreatedHook' } as const
  expect(shown({ ...event, payload: { title: 'Hi' } } as EventOf<'PostCreated'>)).toBe('Hi')
})

test('calls of the host refuse in the compiler what they refuse when they run', async () => {
  const { community } = await createTestCommunity()
  const wrong: readonly ((on: Community) => Promise<unknown>)[] = [
    // @ts-expect-error: the field is called member_id
    (on) => on.notify.emailConsent({ network: '1', member: '1', consent: true }),
    // @ts-expect-error: there is no such plan
    (on) => on.networks.update('1', { service_plan: 'gold' }),
    // @ts-expect-error: the subdomain stays
    (on) => on.networks.update('1', { subdomain: 'x' }),
    // @ts-expect-error: secrets are rotated by the name that upsert has
    (on) => on.endpoints.rotate('1', '1', { secret: true }),
    // @ts-expect-error: there is no such event
    (on) => on.publish({ network: '1', event: 'SunRose', payload: {} }),
  ]
  for (const call of wrong) await expect(call(community)).rejects.toThrow()
})

test('the query of a direct call has the parameters of its operation', async () => {
  const { community } = await createSeededCommunity()
  const network = '1'
  const { items, links } = await community.call('posts.list', { network, query: { space_id: seeded.space, per_page: 1 } })
  expect(items.map(({ space_id }) => space_id)).toEqual([seeded.space])
  const next = Object.fromEntries(new URL(links.next ?? '').searchParams)
  expect((await community.call('posts.list', { network, query: next })).items[0]?.id).not.toBe(items[0]?.id)

  const wrong: readonly (() => Promise<unknown>)[] = [
    // @ts-expect-error: the parameter is required
    () => community.call('members.by_email', { network }),
    // @ts-expect-error: the parameter is called email
    () => community.call('members.by_email', { network, query: { mail: 'ada@example.org' } }),
    // @ts-expect-error: an id is a number or its text
    () => community.call('posts.list', { network, query: { space_id: true } }),
    // @ts-expect-error: a page has a number
    () => community.call('tags.list', { network, query: { page: false } }),
  ]
  for (const call of wrong) await expect(call()).rejects.toThrow()
  // Unknown parameters are ignored, as in a request, but the compiler refuses them.
  // @ts-expect-error: tags are not filtered by title
  await community.call('tags.list', { network, query: { title: 'Oil' } })
  // @ts-expect-error: the operation has no parameters
  await community.call('me.show', { network, query: { page: 1 } })
})

test('the place of a page may be undefined, as it is for the first one', async () => {
  const { community } = await createSeededCommunity()
  const after: string | undefined = [].at(0)
  const pages = [
    community.members.list('1', { after }),
    community.networks.page({ after }),
    community.keys.page('1', { after }),
    community.tags.list('1', { after }),
    community.reports.list('1', { after }),
    community.audit.list({ network: '1', cursor: after }),
    community.exportPage('1', { what: 'tags', after }),
    community.members.exportPage('1', seeded.member, { after }),
  ]
  expect((await Promise.allSettled(pages)).map(({ status }) => status)).toEqual(pages.map(() => 'fulfilled'))
})

/** The ids under which an operation also accepts a second method. */
const second = [
  'badges.replace',
  'collections.replace',
  'courseworks.replace',
  'custom_fields.replace',
  'events.replace',
  'invites.replace',
  'members.replace',
  'options.replace',
  'plan_invites.resend_put',
  'polls.replace',
  'posts.replace',
  'rsvps.replace',
  'space_members.replace',
  'spaces.replace',
  'tags.replace',
] as const satisfies readonly OperationId[]

test('direct calls and previews take the ids of second methods, and a hook gets those of the first', async () => {
  const before: string[] = []
  const hooks: Hooks = {
    before: ({ id }) => {
      // @ts-expect-error: PUT has the id of PATCH
      before.push(id === 'tags.replace' ? 'never' : id)
    },
  }
  const { community } = await createTestCommunity({ hooks })
  const network = '1'
  const { id } = await community.call('tags.create', { network, body: { title: 'Oil' } })
  const replace = { network, params: { id }, body: { title: 'Ink' } }
  expectTypeOf((await community.preview('tags.replace', replace)).result.title).toEqualTypeOf<string>()
  expect((await community.call('tags.replace', replace)).title).toBe('Ink')
  expect(before).toEqual(['tags.create', 'tags.update', 'tags.update'])
  expect(
    routesOf(operations)
      .flatMap((route) => (route.id === route.operation.id ? [] : [route.id]))
      .sort(),
  ).toEqual(second)
})
