/** An option without which less is checked is never `undefined` by accident, as when a variable is not set: nothing fails open. */
import { expect, test } from 'vitest'
import { createMcp } from '../../adapters/mcp/index.ts'
import { memoryStorage } from '../../adapters/storage/memory.ts'
import { testCommunity } from '../../adapters/testing/index.ts'
import { createClient } from '../../lib/client/index.ts'
import { type Community, createCommunity } from '../../lib/index.ts'
import { createPanel, relayAdminOverControl } from '../../lib/panel/index.ts'
import { type Delivery, receive, respond, sign } from '../../lib/receiver/index.ts'

/** What a program without types may give. */
type Options = never

const token = 'my-webhook-token'
const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
const body = JSON.stringify({
  event_id: '1',
  event_timestamp: '2026-11-20T12:00:00.000Z',
  event_type: 'TestHook',
  payload: { message: 'forged' },
})
const headers = { authorization: `Bearer ${token}`, 'webhook-id': '1', 'webhook-signature': 'v1,AAAA' }
const forged = () => new Request('http://receiver.example/', { method: 'POST', headers, body })

const received = (given: object): Promise<Delivery> => receive(forged(), given as Options)
const responded = (given: object): Promise<Response> => respond(forged(), given as Options, () => undefined)
const signed = (given: object) => sign(body, given as Options)
const community = (given: object) => createCommunity({ storage: memoryStorage(), ...given } as Options)
const inTests = (given: object) => testCommunity(given as Options)
const panel = (given: object) => createPanel(community({}), { authorize: () => null, ...given } as Options)
const mcp = (given: object) => createMcp(community({}), given as Options)
const client = (given: object) =>
  createClient({ baseUrl: 'https://api.example.org', network: '1', token: 'secret', ...given } as Options)
const relayView = (given: object) => relayAdminOverControl({ url: 'http://127.0.0.1:9464', ...given } as Options)

/** A call of the community of a network that is there. */
const calling = (work: (community: Community, given: Options) => Promise<unknown>) => async (given: object) =>
  work((await testCommunity()).community, { network: '1', ...given } as Options)
const newKey = calling(({ keys }, { network, ...given }: { network: string }) =>
  keys.create({ network, name: 'Key', scopes: ['*'], ...given }),
)
const newEndpoint = calling(({ endpoints }, { network, ...given }: { network: string }) =>
  endpoints.upsert({ network, url: 'https://example.org/', token, ...given }),
)
const call = calling((made, given) => made.call('spaces.list', given))

const missing = { token }
const undefinedIn = (...names: readonly string[]) => names.map((name) => [name, { [name]: undefined }] as const)
const cases = [
  ...([{}, undefinedIn('secrets')[0]?.[1], { secrets: null }, { secrets: [] }, { secrets: [undefined] }] as const).flatMap(
    (given) => [
      ['receive', 'secrets', received, { ...missing, ...given }] as const,
      ['respond', 'secrets', responded, { ...missing, ...given }] as const,
    ],
  ),
  ['receive', 'token', received, { token: undefined, secrets: secret }] as const,
  ['receive', 'token', received, { token: [token, undefined], secrets: secret }] as const,
  ['receive', 'store', received, { token, secrets: secret, store: undefined }] as const,
  ...undefinedIn('token', 'secrets').map(([name, given]) => ['sign', name, signed, given] as const),
  ...undefinedIn('trustProxy', 'rateLimiter', 'authenticate', 'keysOfFormerMembers', 'encryptionKeys').flatMap(
    ([name, given]) => [['createCommunity', name, community, given] as const, ['testCommunity', name, inTests, given] as const],
  ),
  ['createCommunity', 'hooks.before', community, { hooks: { before: undefined } }] as const,
  ['createCommunity', 'storage', community, { storage: undefined }] as const,
  ...undefinedIn('authorize', 'maskedFields').map(([name, given]) => ['createPanel', name, panel, given] as const),
  ...undefinedIn('token', 'only').map(([name, given]) => ['createMcp', name, mcp, given] as const),
  ['createClient', 'token', client, { token: undefined }] as const,
  ['relayAdminOverControl', 'token', relayView, { token: undefined }] as const,
  ['call', 'as', call, { as: undefined }] as const,
  ...undefinedIn('member_id', 'expires_at').map(([name, given]) => ['keys.create', name, newKey, given] as const),
  ['endpoints.upsert', 'secrets', newEndpoint, { secrets: undefined }] as const,
]

test.each(cases)('%s refuses `%s` that is not set, and names it', async (_, name, open, given) => {
  const outcome = await Promise.resolve()
    .then(() => open(given))
    .catch((error: unknown) => error)
  expect(outcome).toBeInstanceOf(TypeError)
  expect((outcome as TypeError).message).toContain(`\`${name}\``)
  expect((outcome as TypeError).message).not.toContain(secret)
})

test('unsigned deliveries are accepted with `secrets: false`', async () => {
  expect((await received({ token, secrets: false })).event.event_type).toBe('TestHook')
  expect((await responded({ token, secrets: false })).status).toBe(204)
  expect(await signed({ secrets: false })).not.toHaveProperty('webhook-signature')
})

test('what may be left out has its default, and so has an `undefined` that makes nothing weaker', async () => {
  const { close } = community({ allowHttp: undefined, limits: undefined, clock: undefined, newMembersConsent: undefined })
  await close()
  await expect(
    received({ token, secrets: secret, tolerance: undefined, maxBytes: undefined, now: undefined }),
  ).rejects.toMatchObject({ code: 'signature_missing' })
})
