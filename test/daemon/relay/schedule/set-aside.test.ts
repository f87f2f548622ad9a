/** An endpoint that needs what the relay does not know: as if the attribute were not there, it would be sent what it must not get. */
import { DatabaseSync } from 'node:sqlite'
import pg from 'pg'
import { expect, test } from 'vitest'
import { relayAdmin } from '../../../../daemon/relay/admin/admin.ts'
import { openOperatorStore, storePath } from '../../../../daemon/relay/open-store.ts'
import { postgresAddress } from '../../../support/postgres.ts'
import { type Bench, bench, endpoint, event, receiver, until } from '../support.ts'

const strange = (url: string) => endpoint(url, { requires: ['later'] })
const aside = (all: Bench) => all.notices.filter(({ kind }) => kind === 'endpoint.unreadable')

/** What an operator and the panel see of the endpoint. */
async function seen(all: Bench) {
  const store = await openOperatorStore(all.directory)
  const admin = relayAdmin(all.directory)
  try {
    const [status] = await store.endpoints()
    const [health] = (await admin.status({ network_id: '1' })).endpoints
    return { status, health, notices: (await store.notices(100)).filter(({ kind }) => kind === 'endpoint.unreadable').length }
  } finally {
    await admin.close()
    await store.close()
  }
}

/** Changes the store, as a person with a SQL client could. */
async function change(all: Bench, sql: string): Promise<void> {
  const schema = /schema=(\w+)/.exec(all.directory)?.[1]
  if (schema !== undefined) {
    const client = new pg.Client({ connectionString: await postgresAddress() })
    await client.connect()
    await client.query(sql.replaceAll('$', `${schema}_relay.`))
    await client.end()
    return
  }
  const database = new DatabaseSync(storePath(all.directory), { timeout: 60_000 })
  database.exec(sql.replaceAll('$', ''))
  database.close()
}

test('nothing is sent to an endpoint that needs what the relay does not know, over restarts too', async () => {
  const [odd, plain] = [await receiver(), await receiver()]
  const all = await bench()
  await all.append(strange(odd.url), endpoint(plain.url, { id: '8' }), event('one'))
  await until(() => plain.received.length === 1 && aside(all).length === 1, 'the other endpoint gets it, and it is said')
  expect(aside(all)).toMatchObject([{ endpoint_id: '7', text: expect.stringContaining('it needs `later`') }])
  await all.restart()
  await all.append(event('two'))
  await until(() => plain.received.length === 2, 'the other endpoint gets the next one')
  expect(odd.received).toEqual([])
  expect(await seen(all)).toMatchObject({
    status: { endpoint_id: '7', set_aside: true, state: 'active', pending: 2, next_attempt_at: null },
    health: { activity: 'set aside', reason: expect.stringContaining('update the relay'), pending: 2 },
    notices: 1,
  })
})

test('a test is not sent to an endpoint that needs what the relay does not know', async () => {
  const hook = await receiver()
  const all = await bench()
  await all.append(strange(hook.url))
  await until(() => aside(all).length === 1, 'it is set aside')
  const { sendTest } = await import('../../../../daemon/relay/send/test-delivery.ts')
  const [known] = (await all.relay.store.endpoints()).map(({ endpoint: each }) => each)
  if (!known) throw new Error('there is no endpoint')
  const outcome = await sendTest(known, all.relay.scheduler.open, all.relay.settings, 'test')
  expect(outcome).toMatchObject({ result: 'unreadable', reason: expect.stringContaining('`later`') })
  expect(hook.received).toEqual([])
})

test('a later definition that the relay understands lets the waiting events go', async () => {
  const hook = await receiver()
  const all = await bench()
  await all.append(endpoint(hook.url), event('before'))
  await until(() => hook.received.length === 1, 'it was sent something before')
  await all.append(strange(hook.url), event('during'))
  await until(() => aside(all).length === 1, 'it is set aside')
  await all.append(endpoint(hook.url), event('after'))
  await until(() => hook.received.length === 3, 'everything is delivered')
  expect(hook.received.map(({ id }) => id).toSorted()).toEqual(['after', 'before', 'during'])
  expect(all.notices.map(({ kind }) => kind)).toContain('endpoint.readable')
})

test('a relay that knows more takes the endpoint over as it was recorded, and sends what waits', async () => {
  const hook = await receiver()
  const all = await bench()
  await all.append(strange(hook.url), event('one'))
  await until(() => aside(all).length === 1, 'it is set aside')
  await all.relay.close(0)
  // As if a later version knew the word.
  await change(
    all,
    `UPDATE $endpoints SET requires = '[]', set_aside = replace(set_aside, '"later"', ''), url = 'https://other.example/'`,
  )
  await all.restart()
  await until(() => hook.received.length === 1, 'it is delivered to the recorded address')
  expect((await seen(all)).status).toMatchObject({ set_aside: false, unreadable: null })
})

test('a relay of an earlier version sets an endpoint aside that a later one has defined', async () => {
  const hook = await receiver()
  const all = await bench()
  await all.append(endpoint(hook.url), event('one'))
  await until(() => hook.received.length === 1, 'it is delivered')
  await all.relay.close(0)
  await change(all, `UPDATE $endpoints SET requires = '["later"]'`)
  await all.restart()
  await all.append(event('two'))
  await until(async () => (await seen(all)).status?.pending === 1, 'the event waits')
  expect(hook.received).toHaveLength(1)
  expect((await seen(all)).status).toMatchObject({ set_aside: true })
})
