/** A server that takes no changes for a while: a standby that responds during a failover, or a database that was set so. */
import { expect, test } from 'vitest'
import { testPostgres } from '../../../support/postgres.ts'
import { ended } from '../../../support/program.ts'
import { endpoint, event, status, until } from '../support.ts'
import { cluster, clusterServer, watched } from './support.ts'

const postgres = await testPostgres()
const server = await clusterServer(postgres)
const admin = await postgres.client()
const database = `"${new URL(postgres.url).pathname.slice(1)}"`

/** Connections that begin from now on take no changes, and all others are cut. */
async function demote(): Promise<void> {
  await admin.query('SET default_transaction_read_only = off')
  await admin.query(`ALTER DATABASE ${database} SET default_transaction_read_only = on`)
  await admin.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid() AND application_name LIKE 'folkmoot%'`)
}

/** Only new connections take changes: those that are open stay as they are. */
const promote = () => admin.query(`ALTER DATABASE ${database} RESET default_transaction_read_only`)

test('connections to a read-only server are dropped, so that work continues on its successor', async () => {
  const hook = await watched((_, response) => void response.writeHead(204).end())
  const group = await cluster(server)
  const { relay } = await group.begin()
  await group.append(endpoint(hook.at('/a')), event('before'))
  await until(() => hook.ids('/a').length === 1, 'the first event arrives')

  await demote()
  await expect(group.append(event('refused'))).rejects.toMatchObject({ code: 'unavailable' })
  await until(() => !relay.ready, 'the relay is not ready')

  await promote()
  await until(
    () =>
      group.append(event('after')).then(
        () => true,
        () => false,
      ),
    'the storage takes changes',
  )
  await until(() => relay.ready && hook.ids('/a').length === 2, 'the relay continues')
  expect(hook.ids('/a')).toEqual(['before', 'after'])
})

test('a relay whose database went back to an earlier moment has the endpoints of that moment', async () => {
  const hook = await watched(status(204))
  const group = await cluster(server)
  await group.begin()
  await group.append(endpoint(hook.at('/new'), { id: '1' }), event('before'))
  await until(async () => hook.ids('/new').length === 1 && (await group.pending()) === 0, 'the first event is delivered')
  const lease = async () => (await group.query('SELECT id FROM $relay.relays'))[0]?.['id']
  const first = await lease()
  await group.query(
    `WITH lost AS (UPDATE $relay.meta SET value = value - 1 WHERE name = 'version') UPDATE $relay.endpoints SET url = $1`,
    [hook.at('/old')],
  )
  await until(async () => (await lease()) !== first, 'the relay begins anew')
  await group.append(event('after'))
  await until(() => hook.ids('/old').includes('after'), 'the next event is delivered')
  expect(hook.ids('/new')).toEqual(['before'])
})

test('the commands look at a database that takes no changes, and check names it', async () => {
  const group = await cluster(server)
  await group.append(endpoint('https://example.org/hook', { name: 'CRM' }))
  const { relay, stop } = await group.begin()
  await until(() => [...relay.scheduler.endpoints].length === 1, 'the endpoint is ingested')
  await stop()
  await demote()
  const status = await ended('folkmoot-relay', 'status', '--json', '--outbox', group.address)
  const checked = await ended('folkmoot-relay', 'check', '--json', '--outbox', group.address)
  const closed = await ended('folkmoot-relay', 'close-circuit', '--endpoint-id', '7', '--outbox', group.address)
  await promote()
  expect(status).toMatchObject({ code: 0, stderr: '' })
  expect(JSON.parse(status.stdout)).toMatchObject({ endpoints: [{ name: 'CRM' }] })
  expect(checked.code).toBe(1)
  expect(JSON.parse(checked.stdout).problems).toEqual([
    'store: the database takes no changes: it is a standby, or default_transaction_read_only is on. Give the address of the primary',
  ])
  expect(closed).toMatchObject({ code: 1, stderr: expect.stringContaining('read-only transaction') })
})
