/** The id of a fault: the host's own, if it can be shown, else one that the community draws. */
import { expect, test } from 'vitest'
import type { FaultContext } from '../../../lib/index.ts'
import { createTestCommunity } from '../../support/community.ts'

/** A community whose operations fail, and the reports of it. */
async function failing() {
  const reports: FaultContext[] = []
  const hooks = {
    before: () => {
      throw new Error('broken')
    },
    onError: (_: unknown, about: FaultContext) => void reports.push(about),
  }
  const { community, token } = await createTestCommunity({ hooks })
  const headers = { authorization: `Bearer ${token}` }
  const request = () => new Request('https://api.test/admin/v1/networks/1/tags', { headers })
  return { community, reports, request }
}

const drawn = /^[\da-f]{8}-[\da-f-]{27}$/

test.each([
  ['req-1'],
  ['0198ab5e-7d5f-7000-8000-0123456789ab'],
  ['00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'],
  ['Root=1-67891233-abcdef012345678912345678;Self=1'],
  ['8a7b/c+d=_.:@'],
  ['x'.repeat(128)],
  [7],
])('the id %s of the host is that of the fault and of its report', async (requestId) => {
  const { community, reports, request } = await failing()
  const response = await community.handle(request(), { requestId })
  expect([response?.status, await response?.json()]).toEqual([
    500,
    { error: 'Internal server error', request_id: String(requestId) },
  ])
  expect(reports).toEqual([{ request_id: String(requestId), operation: 'tags.list' }])
})

test.each([[undefined], [null], [''], ['a b'], ['a\nb'], ['<b>'], ['"'], ['é'], ['x'.repeat(129)], [{}], [['a']], [true]])(
  'in place of %j as an id the community draws one',
  async (requestId) => {
    const { community, reports, request } = await failing()
    const response = await community.handle(request(), { requestId })
    const seen = { request_id: expect.stringMatching(drawn) }
    expect(await response?.json()).toEqual({ error: 'Internal server error', ...seen })
    expect(reports).toEqual([{ ...seen, operation: 'tags.list' }])
  },
)

test('a function of the host that fails is reported, and the response has an id all the same', async () => {
  const { community, reports, request } = await failing()
  const { headers } = request()
  const response = await community.serve({
    ...{ method: 'GET', path: '/admin/v1/networks/1/tags', search: '', secure: true },
    header: (name) => headers.get(name),
    read: async () => new Uint8Array(),
    requestId: () => {
      throw new Error('no id')
    },
  })
  const { request_id } = JSON.parse(String(response.body)) as { readonly request_id: string }
  expect([response.status, request_id]).toEqual([500, expect.stringMatching(drawn)])
  expect(reports).toEqual([{ task: 'option `requestId`' }, { request_id, operation: 'tags.list' }])
})

test('no id is requested without a fault', async () => {
  const { community, token } = await createTestCommunity()
  const request = new Request('https://api.test/admin/v1/networks/1/nothing', { headers: { authorization: `Bearer ${token}` } })
  const about = {
    get requestId() {
      throw new Error('nobody needs it')
    },
  }
  expect((await community.handle(request, about))?.status).toBe(404)
})

test('fetch takes no id from the further arguments of its caller', async () => {
  const { community, request } = await failing()
  const fetch: (request: Request, environment: object) => Promise<Response> = community.fetch
  const { request_id } = (await (await fetch(request(), { requestId: 'ours' })).json()) as { readonly request_id: string }
  expect(request_id).toMatch(drawn)
})
