/** Endpoints that a relay gives up, and that are enabled through another one. */
import { expect, onTestFinished, test } from 'vitest'
import { relayAdmin } from '../../../../daemon/relay/admin/admin.ts'
import { embeddedBackend } from '../../../../daemon/relay/admin/backend.ts'
import { type Relay, startRelay } from '../../../../daemon/relay/relay.ts'
import { testPostgres } from '../../../support/postgres.ts'
import { endpoint, event, status, until } from '../support.ts'
import { cluster, clusterServer, times, watched } from './support.ts'

const server = await clusterServer(await testPostgres())

test('an endpoint that was disabled after days and enabled by another relay is not disabled again immediately', async () => {
  const hook = await watched(status(500))
  const group = await cluster(server)
  const second = 1 / 86_400
  const start = () =>
    startRelay({
      outbox: group.address,
      settings: {
        allowHttp: true,
        allowPrivate: true,
        retrySchedule: [0, ...times(90).map(() => 0.1)],
        breakerThreshold: 1000,
        disableAfter: second,
      },
    })
  const relays: Relay[] = [await start(), await start()]
  onTestFinished(async () => {
    for (const relay of relays) await relay.close(0)
  })
  await group.append(endpoint(hook.at('/'), { id: '1' }), event('a'))
  const holder = () => relays.find(({ scheduler }) => [...scheduler.endpoints].length > 0)
  await until(() => holder() !== undefined && hook.received.length > 0, 'it is being sent')
  const disabled = async () => {
    const [row] = await group.query('SELECT disabled FROM $relay.endpoints')
    return row?.['disabled'] ?? null
  }
  await until(async () => {
    holder()?.maintenance.giveUp()
    return (await disabled()) !== null
  }, 'it is given up')

  // From now on nothing gets a response: no attempt speaks for the endpoint or against it.
  hook.respond = () => {}
  const other = relays.find((relay) => relay !== holder())
  const admin = relayAdmin(group.address, other && embeddedBackend(other))
  onTestFinished(() => admin.close())
  const before = hook.received.length
  await admin.enable({ network_id: '1', endpoint_id: '1' })
  await until(() => hook.received.length > before, 'it is sent to again')
  holder()?.maintenance.giveUp()
  await holder()?.scheduler.stop(0)
  expect(await disabled()).toBeNull()
})
