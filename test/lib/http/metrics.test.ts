/** The metrics of an embedded API. */
import { expect, test } from 'vitest'
import { createTestCommunity } from '../../support/community.ts'

const samplesOf = (text: string, name: string) => text.split('\n').filter((line) => line.startsWith(name))

test('requests are counted by operation and status, with their duration, and faults apart', async () => {
  let fails = false
  const { community, clock, token } = await createTestCommunity({
    allowHttp: true,
    hooks: {
      before: async () => {
        clock.advance(700)
        if (fails) throw new Error('a fault of the host')
      },
      onError: () => undefined,
    },
  })
  const request = async (path: string, init: RequestInit = {}) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    return (await community.fetch(new Request(`http://api.test/admin/v1/networks/1${path}`, { ...init, headers }))).status
  }
  const post = () => request('/tags', { method: 'POST', body: '{"title":"Oil"}' })
  expect(samplesOf(community.metrics(), 'folkmoot_requests')).toEqual(['folkmoot_requests_in_flight 0'])
  expect([await request('/me'), await request('/nowhere'), await post()]).toEqual([200, 404, 201])
  fails = true
  expect(await post()).toBe(500)
  const text = community.metrics()
  expect(samplesOf(text, 'folkmoot_requests_total')).toEqual([
    'folkmoot_requests_total{operation="me.show",status="2xx"} 1',
    'folkmoot_requests_total{operation="none",status="4xx"} 1',
    'folkmoot_requests_total{operation="tags.create",status="2xx"} 1',
    'folkmoot_requests_total{operation="tags.create",status="5xx"} 1',
  ])
  const duration = 'folkmoot_request_duration_seconds'
  expect(samplesOf(text, `${duration}_bucket{le="0.5",operation="tags.create"}`)).toEqual([expect.stringMatching(/ 0$/)])
  expect(samplesOf(text, `${duration}_bucket{le="2.5",operation="tags.create"}`)).toEqual([expect.stringMatching(/ 2$/)])
  expect(samplesOf(text, `${duration}_sum{operation="tags.create"}`)).toEqual([expect.stringMatching(/ 1\.4$/)])
  expect(samplesOf(text, 'folkmoot_faults_total')).toEqual(['folkmoot_faults_total 1'])
})

test('the list has the same as the text', async () => {
  const { community, token } = await createTestCommunity({ allowHttp: true })
  await community.fetch(new Request('http://api.test/admin/v1/networks/1/me', { headers: { authorization: `Bearer ${token}` } }))
  const list = community.metrics('list')
  const text = community.metrics()
  expect(list.map(({ name, type }) => `# TYPE ${name} ${type}`)).toEqual(text.match(/^# TYPE .*$/gm))
  const values = list.flatMap(({ samples }) => samples.map(({ name, value }) => [name, String(value)]))
  expect(values).toEqual(text.match(/^[a-z].*$/gm)?.map((line) => [line.replace(/[{ ].*/, ''), line.replace(/.* /, '')]))
})

test('a label of a path that does not exist does not make new series', async () => {
  const { community } = await createTestCommunity({ allowHttp: true })
  for (let each = 0; each < 20; each++) await community.fetch(new Request(`http://api.test/admin/v1/networks/1/${each}`))
  expect(samplesOf(community.metrics(), 'folkmoot_requests_total')).toEqual([
    'folkmoot_requests_total{operation="none",status="4xx"} 20',
  ])
})
