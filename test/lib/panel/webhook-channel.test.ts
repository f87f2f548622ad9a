import { expect, test } from 'vitest'
import { relayOf } from './relay.ts'
import { admin, createTestPanel } from './support.ts'

const token = 'XQ7vPz31mNb8Kd02LtWs94Ra'
const url = `https://hooks.slack.example/services/T0/B0/${token}`

test('the form has a few events chosen, and adds a channel whose address no page shows', async () => {
  const { get, post, community } = await createTestPanel(admin, { relay: relayOf() })
  expect((await get('1/webhooks')).text).toContain('Notify a channel</a>')
  const { text } = await get('1/webhooks/channel')
  const chosen = [...text.matchAll(/value="(\w+)" checked/g)].map(([, name]) => name ?? '')
  expect(chosen).toContain('MemberJoined')
  expect(chosen).toContain('EndpointDisabled')
  expect(chosen.length).toBeLessThanOrEqual(8)
  expect(text.match(/name="events"/g)).toHaveLength(47 + 7)

  const events = chosen.map((name) => ['events', name] as [string, string])
  const added = await post('1/webhooks/channel', [['format', 'discord'], ['url', ` ${url} `], ['name', 'Team'], ...events])
  const [endpoint] = await community.endpoints.list('1')
  expect(endpoint).toMatchObject({
    format: 'discord',
    name: 'Team',
    rate_per_second: 0.5,
    events: chosen.map((name) => `${name}Hook`),
  })
  const page = `1/webhooks/${endpoint?.id}`
  expect([added.status, added.headers.get('location')]).toEqual([303, expect.stringContaining(`${endpoint?.id}?done=channel`)])
  const shown = await Promise.all(
    [`${page}?done=channel`, `${page}/edit`, '1/webhooks', '1/audit', '1/deliveries'].map((path) => get(path)),
  )
  for (const each of shown) expect([each.status, each.text.includes(token)]).toEqual([200, false])
  expect(shown[0]?.text).toContain('Messages for Discord')
  expect(shown[0]?.text).toContain('Send a test event</button>')
  expect(shown[0]?.text).not.toContain(`${page}/rotate`)
})

test('the form to edit a channel keeps its address, its notices and its format', async () => {
  const { get, post, community, records } = await createTestPanel()
  const given = { network: '1', url, format: 'slack', events: ['MemberJoined', 'EndpointDisabled'] } as const
  const { id } = await community.endpoints.upsert(given)
  const { text } = await get(`1/webhooks/${id}/edit`)
  const fields = [...text.matchAll(/<input id="(url|rate_per_second)"[^>]* value="([^"]*)"/g)].map(
    ([, name = '', value = '']) => [name, value] as [string, string],
  )
  const chosen = [...text.matchAll(/name="events" value="(\w+)" checked/g)].map(
    ([, name = '']) => ['events', name] as [string, string],
  )
  expect(chosen.map(([, name]) => name)).toEqual(['MemberJoinedHook', 'EndpointDisabledHook'])
  const saved = await post(`1/webhooks/${id}/edit`, [
    ...fields,
    ...chosen,
    ['which', 'chosen'],
    ['order', 'none'],
    ['name', 'Team'],
  ])
  expect(saved.status).toBe(303)
  expect(records.at(-1)).toMatchObject({
    url,
    format: 'slack',
    name: 'Team',
    rate_per_second: 1,
    events: ['MemberJoinedHook', 'EndpointDisabledHook'],
  })
})

test('a channel without an event, and a wrong address, are refused next to their fields', async () => {
  const { post, community } = await createTestPanel()
  const none = await post('1/webhooks/channel', [
    ['format', 'slack'],
    ['url', url],
  ])
  expect([none.status, none.text.includes('id="events-wrong"')]).toEqual([422, true])
  const wrong = await post('1/webhooks/channel', [
    ['format', 'slack'],
    ['url', 'javascript:alert(1)'],
    ['events', 'PostCreated'],
  ])
  expect([wrong.status, wrong.text.includes('id="url-wrong"')]).toEqual([422, true])
  expect(wrong.text).toMatch(/value="PostCreated" checked/)
  expect(await community.endpoints.list('1')).toEqual([])
})
