/** Receivers that refuse old events, each in its own way, and a relay process with times that are two hundred times shorter than the defaults. */
import { expect, test } from 'vitest'
import { openOutbox } from '../../../../adapters/outbox/file.ts'
import { run } from '../../../support/command.ts'
import { temporaryDirectory } from '../../../support/directory.ts'
import { watched } from '../cluster/support.ts'
import { endpoint, event, until } from '../support.ts'

const limit = 20_000
const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'

/** Events whose time was an hour ago, or is now. */
const recorded = (id: string, ago = 0) => {
  const event_timestamp = new Date(Date.now() - ago).toISOString()
  return event(id, { event_timestamp, body: JSON.stringify({ event_id: id, event_timestamp, payload: {} }) })
}

test('after an outage every receiver gets what is new, whatever it answers to what is old', async () => {
  const directory = temporaryDirectory()
  const outbox = await openOutbox({ directory })
  const refusals = [400, 401, 403, 409, 422, 500]
  const signature = '/1'
  const paths = [...refusals.map((code) => `/${code}`), signature]
  let up = false
  const hook = await watched(({ path, headers, body }, response) => {
    const time = path === signature ? 1000 * Number(headers['webhook-timestamp']) : Date.parse(JSON.parse(body).event_timestamp)
    const isOld = Math.abs(Date.now() - time) > limit
    const code = !up ? 503 : isOld ? Number(path.slice(1)) : 204
    response.writeHead(code).end()
    if (code === 204) taken.get(path)?.add(JSON.parse(body).event_id)
  })
  const taken = new Map(paths.map((path) => [path, new Set<string>()]))
  await outbox.append([paths.map((path) => endpoint(hook.at(path), { id: path.slice(1), secrets: [secret] }))])
  await outbox.append(Array.from({ length: 30 }, (_, n) => [recorded(`old${n}`, 3_600_000)]))
  const relay = run(
    'folkmoot-relay',
    ...['run', '--outbox', directory, '--allow-http', '--allow-private', '--json'],
    ...['--retry-schedule', '0,0.03,1.5,9,36,90,180,252,360,432', '--breaker-cooldown', '0.15'],
  )
  // Five failures open a circuit; more are probes.
  await until(() => paths.every((path) => hook.ids(path).length >= 8), 'probes have failed')
  up = true

  let fresh = 0
  const last = () => Array.from({ length: 5 }, (_, n) => `fresh${fresh - 1 - n}`)
  const isBack = (path: string) => last().every((id) => taken.get(path)?.has(id))
  await until(async () => {
    if (fresh >= 5 && paths.every(isBack)) return true
    const attempts = hook.received.length
    await outbox.append([[recorded(`fresh${fresh++}`)]])
    await until(() => hook.received.length > attempts, 'something is tried')
    return false
  }, 'all of them take what is new')

  // By the signature nothing is old: its time is that of the attempt.
  await until(() => taken.get(signature)?.size === 30 + fresh, 'the one that looks at the signature has everything')
  for (const code of refusals) expect([...(taken.get(`/${code}`) ?? [])].filter((id) => id.startsWith('old'))).toEqual([])
  relay.child.kill('SIGTERM')
  expect(await relay.ended).toBe(0)
  await outbox.close()
})
