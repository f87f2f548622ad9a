/** The programs with `--telemetry`: they use the SDK that their process has registered. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { idOf, parentOf, recordedSpans, traceOf } from '../adapters/telemetry/recorded-spans.ts'
import { begun } from '../support/begun.ts'
import { temporaryDirectory } from '../support/directory.ts'
import { receiver, until } from './relay/support.ts'

test('serve --telemetry --relay traces a request to its receiver', async () => {
  const hook = await receiver()
  const directory = temporaryDirectory()
  const key = join(directory, 'key')
  writeFileSync(key, 'the-key-of-the-endpoint')
  const demo = ['serve', '--demo', '--allow-http', '--json', '--port', '0', '--storage', `sqlite:${join(directory, 'db.sqlite')}`]
  const server = begun(...demo, '--relay', '--telemetry', '--webhook-url', hook.url, '--webhook-token-file', key)
  const { url, token } = JSON.parse(await server.firstLine())
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const body = JSON.stringify({ email: 'oil@example.org', first_name: 'Oil', last_name: 'Ash' })
  expect((await fetch(`${url}/admin/v1/networks/1/members`, { method: 'POST', headers, body })).status).toBe(201)
  await until(() => recordedSpans(/^deliver MemberJoinedHook/).length === 1, 'the event is delivered')
  const [request] = recordedSpans(/^POST/)
  const [attempt] = recordedSpans(/^deliver MemberJoinedHook/)
  const [writing] = recordedSpans(/^transaction write/).filter((span) => idOf(span) === parentOf(attempt))
  expect([traceOf(attempt), parentOf(writing)]).toEqual([traceOf(request), idOf(request)])
  await server.stop()
})
