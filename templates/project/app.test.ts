import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { createClient } from 'folkmoot/client'
import { openOutbox } from 'folkmoot/outbox'
import type { ReceivedEvent } from 'folkmoot/receiver'
import { memoryStorage } from 'folkmoot/storage/memory'
import { startApp } from './app.ts'

/** The app on a free port, with everything in memory but its outbox. */
async function start(t: TestContext, onEvent: (event: ReceivedEvent) => unknown = () => {}) {
  const directory = await mkdtemp(join(tmpdir(), 'community-'))
  const storage = memoryStorage({ outbox: await openOutbox({ directory }) })
  const owner = { email: 'ada@example.org', first_name: 'Ada', last_name: 'Ash' }
  const network = { subdomain: 'paint-pals', title: 'Paint Pals', owner }
  const app = await startApp({ storage, port: 0, host: '127.0.0.1', network, onEvent })
  t.after(async () => {
    await app.stop()
    await rm(directory, { recursive: true })
  })
  return app
}

test('a new member reaches the receiver as a verified webhook', { timeout: 30_000 }, async (t) => {
  const joined = Promise.withResolvers<string>()
  const app = await start(t, (event) => {
    if (event.event_type === 'MemberJoinedHook') joined.resolve(event.payload.member.id)
  })
  const client = createClient({ baseUrl: app.url, network: app.network.subdomain, token: String(app.token) })
  const grace = await client.members.create({ email: 'grace@example.org', first_name: 'Grace', last_name: 'Oak' })
  assert.equal(await joined.promise, grace.id)
})

test('the receiver refuses a request without a token', async (t) => {
  const app = await start(t, () => assert.fail('nothing was sent'))
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(`${app.url}/webhooks`, { method: 'POST', body: '{}', headers })
  assert.equal(response.status, 401)
})

test('the panel refuses a visitor whom authorize does not know', async (t) => {
  const app = await start(t)
  assert.equal((await fetch(`${app.url}/admin/panel/`)).status, 403)
})

test('the health check responds once the relay is ready', async (t) => {
  const app = await start(t)
  assert.equal((await fetch(`${app.url}/health`)).status, 200)
})
