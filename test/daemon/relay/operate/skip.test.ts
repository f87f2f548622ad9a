import { describe, expect, onTestFinished, test } from 'vitest'
import { relayAdmin } from '../../../../daemon/relay/admin/admin.ts'
import { openOperatorStore } from '../../../../daemon/relay/open-store.ts'
import { startControl } from '../../../../daemon/relay/operate/control/control.ts'
import { controlToken } from '../../../../daemon/relay/operate/control/control-token.ts'
import { createMetrics } from '../../../../daemon/relay/operate/metrics.ts'
import type { OperatorStore } from '../../../../daemon/relay/store/operator/operator-store.ts'
import type { DeliveryFilter } from '../../../../lib/relay/relay-admin.ts'
import { ended } from '../../../support/program.ts'
import { type Bench, bench, endpoint, event, events, receiver, status, until } from '../support.ts'

async function operator({ directory }: Pick<Bench, 'directory'>) {
  const store = await openOperatorStore(directory)
  onTestFinished(() => store.close())
  return store
}

/** Skips deliveries of endpoint 7. */
async function skipIn(store: OperatorStore, filter: DeliveryFilter = {}): Promise<number> {
  const found = (await store.knownEndpoints()).find(({ id }) => id === '7')
  return found ? store.skip(found, filter, 1000, Date.now()) : 0
}

async function command(...args: string[]) {
  const { code, stdout, stderr } = await ended('folkmoot-relay', ...args, '--json')
  return { code, out: stdout, error: stderr }
}

describe('skip', () => {
  test('of the head lets a fifo endpoint continue, and resend undoes it', async () => {
    const hook = await receiver(({ id }, response) => void response.writeHead(id === 'bad' ? 500 : 204).end())
    const made = await bench({ retrySchedule: [0, 3600], breakerThreshold: 1000 })
    await made.append(endpoint(hook.url, { order: 'fifo' }), event('bad'), event('good'))
    await until(() => made.attempts.length === 1, 'the head has failed')
    const skipped = await command('skip', '--outbox', made.directory, '--endpoint-id', '7', '--limit', '1')
    expect(skipped).toMatchObject({ code: 0, out: '{"skipped":1}\n' })
    await until(() => made.attempts.length === 2, 'the next one is delivered')
    const store = await operator(made)
    expect(await store.deliveries({ state: 'skipped', limit: 10 })).toMatchObject([{ event_id: 'bad', last_outcome: 'skipped' }])
    expect(await store.notices(1)).toMatchObject([{ kind: 'operator.skipped', text: 'an operator skipped 1 waiting delivery' }])
    hook.respond = status(204)
    const admin = relayAdmin(made.directory)
    onTestFinished(() => admin.close())
    expect(await admin.resend({ state: 'skipped', all: true })).toMatchObject({ of: { count: 1 } })
    await until(() => made.attempts.length === 3, 'it is delivered after all')
    expect(made.attempts.map(({ event_id, state }) => `${event_id} ${state}`)).toEqual([
      'bad pending',
      'good delivered',
      'bad delivered',
    ])
  })

  test('prints the command that undoes it, and that command does', async () => {
    const hook = await receiver(status(500))
    const made = await bench({ retrySchedule: [0, 3600] })
    await made.append(endpoint(hook.url), event('only'))
    await until(() => made.attempts.length === 1, 'it has failed')
    const skipped = await ended('folkmoot-relay', 'skip', '--outbox', made.directory, '--endpoint-id', '7')
    expect(skipped.stdout).toMatch(/^1 delivery is skipped; resend .* makes it due again$/m)
    const [, undoing = ''] = /; (.*) makes/.exec(skipped.stdout) ?? []
    const undone = await command(...undoing.split(' '), '--outbox', made.directory)
    expect(undone).toEqual({ code: 0, out: '{"resent":1}\n', error: '' })
    const none = await ended('folkmoot-relay', 'skip', '--outbox', made.directory, '--endpoint-id', '7', '--event-id', 'none')
    expect(none.stdout).toBe('0 deliveries are skipped: none of the chosen deliveries is pending\n')
  })

  test('lets the next one of the subject go, wherever in the row the skipped ones stood', async () => {
    const hook = await receiver(({ id }, response) => void response.writeHead(id === 'e0' ? 500 : 204).end())
    const made = await bench({ retrySchedule: [0, 3600], breakerThreshold: 1000 })
    await made.append(endpoint(hook.url, { order: 'subject' }), ...events('e', 5).map((each) => ({ ...each, subject: 'a' })))
    await until(() => made.attempts.length === 1, 'the first one has failed')
    const store = await operator(made)
    for (const id of ['e1', 'e0']) await skipIn(store, { event_id: id })
    await until(() => made.attempts.length === 4, 'the others are delivered')
    expect(made.attempts.map(({ event_id }) => event_id)).toEqual(['e0', 'e2', 'e3', 'e4'])
  })

  test('of what is in flight counts it as delivered if it arrives, and leaves it alone if it does not', async () => {
    const replies: ((code: number) => void)[] = []
    const hook = await receiver((_, response) => void replies.push((code) => response.writeHead(code).end()))
    const made = await bench({ retrySchedule: [0, 0.05, 0.05] })
    await made.append(endpoint(hook.url))
    await made.append(event('arrives'))
    await until(() => replies.length === 1, 'it is on its way')
    const store = await operator(made)
    expect(await skipIn(store)).toBe(1)
    replies.pop()?.(204)
    await until(() => made.attempts.length === 1, 'it has arrived')
    await made.append(event('fails'))
    await until(() => replies.length === 1, 'the other one is on its way')
    await skipIn(store)
    replies.pop()?.(500)
    await until(() => made.attempts.length === 2, 'it has failed')
    await made.append(event('later'))
    await until(() => replies.length === 1, 'the next one is on its way')
    replies.pop()?.(204)
    await until(() => made.attempts.length === 3, 'all is recorded')
    const found = await store.deliveries({ limit: 10 })
    expect(found.map(({ event_id, state }) => `${event_id} ${state}`)).toEqual([
      'later delivered',
      'fails skipped',
      'arrives delivered',
    ])
  })

  test('chooses by type and time, on the control port too, and is strict', async () => {
    const hook = await receiver()
    const made = await bench()
    const other = event('b', { event_type: 'MemberJoinedHook' })
    await made.append(endpoint(hook.url, { enabled: false }), event('a'), other)
    await until(async () => (await made.relay.store.counts()).pending === 2, 'they wait')
    const metrics = createMetrics(() => made.relay, '0.0.0')
    const { port, close } = await startControl({ relay: made.relay, metrics, outbox: made.directory, port: 0 })
    onTestFinished(close)
    const post = async (id: string, body: object) => {
      const headers = { authorization: `Bearer ${controlToken(made.directory)}` }
      const url = `http://127.0.0.1:${port}/networks/1/endpoints/${id}/skip`
      const reply = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })
      return [reply.status, reply.status === 200 ? await reply.json() : null]
    }
    expect(await post('7', { unti: '2026-01-01' })).toEqual([422, null])
    expect(await post('7', { endpoint_id: '8' })).toEqual([422, null])
    expect(await post('8', {})).toEqual([404, null])
    expect(await post('7', { until: '2020-01-01T00:00:00Z' })).toEqual([200, { skipped: 0 }])
    expect(await post('7', { event_type: 'MemberJoined' })).toEqual([200, { skipped: 1 }])
    expect(await post('7', {})).toEqual([200, { skipped: 1 }])
  })
})

test('skip refuses an unknown endpoint, and a selection without one', async () => {
  const { directory, append, relay } = await bench()
  await append(endpoint('http://127.0.0.1:1/'))
  await until(() => relay.scheduler.endpoint(1) !== undefined, 'it is there')
  expect((await command('skip', '--outbox', directory, '--endpoint-id', '8')).code).toBe(1)
  expect((await command('skip', '--outbox', directory)).code).toBe(2)
})
