/** Changes over the control of a relay whose outbox is a directory: their lines of the audit wait beside it. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { controlToken } from '../../../../daemon/relay/operate/control/control-token.ts'
import { relayAdminOverControl } from '../../../../lib/panel/index.ts'
import { endpoint, event, events, status, until } from '../support.ts'
import { controlled } from './controlled.ts'

/** The lines of the audit that wait in the inbox of an outbox. */
const linesIn = (directory: string) => {
  const inbox = join(directory, 'audit')
  const names = readdirSync(inbox).toSorted()
  return names.map((name) => JSON.parse(readFileSync(join(inbox, name), 'utf8')))
}

test('leaves lines of the audit for each change, with the person, unless its caller does so', async () => {
  const { ask, hook, append, directory, port } = await controlled(status(500))
  await append(endpoint(hook.url), event('a'))
  await until(async () => JSON.stringify(await ask('GET', '/deliveries?state=dead')).includes('"a"'), 'it is dead')
  hook.respond = status(204)
  const key = { authorization: `Bearer ${controlToken(directory)}` }
  const changes = [
    'endpoints/7/test',
    'endpoints/7/disable',
    'endpoints/7/enable',
    'endpoints/7/close-circuit',
    'endpoints/7/skip',
  ]
  for (const path of changes) await ask('POST', `/networks/1/${path}`, {}, { ...key, 'folkmoot-actor': 'ada' })
  await ask('POST', '/resends', { event_id: 'a' })
  const resend = { network_id: '1', state: 'delivered', per_second: 1 }
  const { body: begun } = await ask('POST', '/resends', resend)
  await ask('POST', `/resends/${begun.id}/stop`, { network_id: '1' })
  await ask('GET', '/status')
  await ask('POST', '/resends', { event_id: 'unknown' })
  await ask('POST', '/networks/1/endpoints/7/test', {}, { ...key, 'folkmoot-audited': 'yes' })
  await relayAdminOverControl({ url: `http://127.0.0.1:${port}`, token: controlToken(directory) }).disable({
    network_id: '1',
    endpoint_id: '7',
  })

  const entries = linesIn(directory)
  expect(
    entries.map(({ by, action, details }) => [by.actor, action === 'work.requested' ? `asked ${details.work}` : action]),
  ).toEqual(
    [
      ['control:ada', 'endpoint.tested'],
      ['control:ada', 'endpoint.disabled'],
      ['control:ada', 'endpoint.enabled'],
      ['control:ada', 'endpoint.circuit_closed'],
      ['control:ada', 'deliveries.skipped'],
      ['control:operator', 'deliveries.resent'],
      ['control:operator', 'deliveries.resent'],
      ['control:operator', 'deliveries.resend_stopped'],
    ].flatMap(([actor, action]) => [
      [actor, `asked ${action}`],
      [actor, action],
    ]),
  )
  expect(entries[1]).toMatchObject({
    network: '1',
    subject: { type: 'endpoint', id: '7' },
    details: { outcome: 'delivered', status: 204 },
  })
})

test('changes nothing while the audit cannot be written', async () => {
  const { ask, hook, append, directory, relay } = await controlled()
  await append(endpoint(hook.url))
  await until(() => relay.scheduler.endpoint(1) !== undefined, 'the endpoint is known')
  writeFileSync(join(directory, 'audit'), '')
  const refused = {
    status: 503,
    body: { error: expect.stringMatching(/^nothing was done, because the audit cannot be written/) },
  }
  expect(await ask('POST', '/networks/1/endpoints/7/disable')).toEqual(refused)
  expect(relay.scheduler.endpoint(1)?.state.kind).toBe('active')
})

test('a resend in all networks that is stopped leaves lines in each network that it has reached', async () => {
  const { ask, hook, append, directory } = await controlled()
  await append(endpoint(hook.url), endpoint(hook.url, { id: '9', network_id: '2' }))
  await append(...events('e', 2), event('other', { network_id: '2' }))
  await until(async () => (await ask('GET', '/deliveries?state=delivered')).body.items.length === 3, 'all are delivered')
  const { body: begun } = await ask('POST', '/resends', { state: 'delivered', all: true, per_second: 1 })
  await until(async () => (await ask('GET', `/resends/${begun.id}`)).body.done === 1, 'the first is due')
  expect((await ask('POST', `/resends/${begun.id}/stop`)).body).toMatchObject({ state: 'stopped', done: 1 })
  const lines = linesIn(directory).map(({ network, action, details }) => `${network} ${details.work ?? action}`)
  expect(lines.toSorted()).toEqual([
    ...['1 deliveries.resend_stopped', '1 deliveries.resend_stopped', '1 deliveries.resent', '1 deliveries.resent'],
    ...['2 deliveries.resent', '2 deliveries.resent'],
  ])
})
