import { once } from 'node:events'
import { mkdirSync, statSync } from 'node:fs'
import { request } from 'node:http'
import { connect } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { openOperatorStore, storePath } from '../../../../daemon/relay/open-store.ts'
import { deliveries as showDeliveries, status as showStatus } from '../../../../daemon/relay/operate/commands/inspect.ts'
import { testEndpoint } from '../../../../daemon/relay/operate/commands/test-endpoint.ts'
import { controlToken, controlTokenPath } from '../../../../daemon/relay/operate/control/control-token.ts'
import { widthOf } from '../../../../daemon/table.ts'
import { run } from '../../../support/command.ts'
import { temporaryDirectory } from '../../../support/directory.ts'
import { ended } from '../../../support/program.ts'
import { type Bench, bench, endpoint, event, events, pass, receiver, status, until } from '../support.ts'
import { controlled } from './controlled.ts'

const dead = (all: Bench, count: number): Promise<void> =>
  until(() => all.attempts.filter(({ state }) => state === 'dead').length === count, `${count} are dead`)

/** The outcome of one command: its exit code, its lines of JSON, and its standard error. */
async function command(...args: string[]) {
  const { code, stdout, stderr } = await ended('folkmoot-relay', ...args, '--json')
  const lines = stdout.trimEnd().split('\n')
  return { code, records: lines[0] ? lines.map((line) => JSON.parse(line)) : [], stderr }
}

describe('the commands', () => {
  test('list dead deliveries with their attempts, and resend them through a running relay', async () => {
    const hook = await receiver(status(500))
    const all = await bench({ retrySchedule: [0, 0.02], breakerThreshold: 100 })
    await all.append(endpoint(hook.url), event('a'), event('b'))
    await dead(all, 2)
    const listed = await command('dead', '--outbox', all.directory)
    expect(listed.code).toBe(0)
    expect(listed.records.map(({ event_id, attempts, history }) => [event_id, attempts, history.length])).toEqual([
      ['b', 2, 2],
      ['a', 2, 2],
    ])
    hook.respond = status(204)
    expect((await command('resend', '--outbox', all.directory, '--event-id', 'a')).records).toEqual([{ resent: 1 }])
    await until(() => all.attempts.some(({ state }) => state === 'delivered'), 'it is delivered')
    const [delivered] = (await command('deliveries', '--outbox', all.directory, '--state', 'delivered')).records
    expect(delivered).toMatchObject({ event_id: 'a', endpoint_id: '7', attempts: 1, last_status: 204 })
    expect((await command('deliveries', '--outbox', all.directory)).records).toHaveLength(2)
  })

  test('show every endpoint, without its key and the rest of its URL', async () => {
    const hook = await receiver(status(500))
    const all = await bench({ retrySchedule: [...Array(10).fill(0), 100] })
    await all.append(endpoint(`${hook.url}/secret-path`), event('a'))
    await until(() => all.attempts.length === 10, 'it has failed ten times')
    const shown = await command('status', '--outbox', all.directory)
    const [{ running, endpoints }] = shown.records
    expect([shown.code, running]).toEqual([0, true])
    expect(endpoints).toMatchObject([
      { endpoint_id: '7', network_id: '1', origin: `http://127.0.0.1:${hook.port}`, circuit: 'open', pending: 1 },
    ])
    expect(JSON.stringify(shown.records)).not.toMatch(/secret-path|the-key/)
    const table = await ended('folkmoot-relay', 'status', '--outbox', all.directory)
    expect(table).toMatchObject({ code: 0, stdout: expect.stringContaining('a relay is running') })
  })

  test('show since when events wait, what is next, and why the latest attempt failed', async () => {
    const hook = await receiver(status(503))
    const all = await bench({ retrySchedule: [0, 3600] })
    await all.append(endpoint(hook.url), endpoint('http://127.0.0.1:1/', { id: '8', enabled: false }), event('a'))
    await until(() => all.attempts.length === 1, 'it has failed')
    const [{ endpoints }] = (await command('status', '--outbox', all.directory)).records
    const [failing, off] = endpoints
    expect(failing).toMatchObject({ pending: 1, last_error: 'status 503', next_attempt_at: all.attempts[0]?.next_at })
    expect(Date.parse(failing.oldest_pending_at)).toBeLessThan(Date.parse(failing.next_attempt_at))
    expect(off).toMatchObject({ state: 'paused', pending: 1, next_attempt_at: null, last_error: null })
  })

  test('fit into 100 columns, whatever the endpoints are called, and show everything with --wide', async () => {
    const hook = await receiver(status(503))
    const all = await bench({ retrySchedule: [0, 3600] })
    const id = '243958305993025'
    await all.append(
      endpoint(`${hook.url}/services/${'long/'.repeat(20)}wxyz`, { id }),
      endpoint(`${hook.url}/services/abcd`, { id: '8', network_id: '2', enabled: false }),
      endpoint(hook.url, { id: '9', name: 'Newsletter of the painters '.repeat(5), enabled: false }),
      event('6191cd4e-661a-4019-8612-b390a945a09f', { event_type: 'SpaceMembershipRequestedHook' }),
    )
    await until(() => all.attempts.length === 1, 'it has failed')
    const { directory: outbox } = all
    for (const text of [await showStatus({ outbox }), await showDeliveries({ outbox })]) {
      for (const line of text.split('\n')) expect(widthOf(line)).toBeLessThanOrEqual(100)
      expect(text).toMatch(/in \d+ min/)
      expect(text).toContain(id)
    }
    const [narrow, wide] = [await showStatus({ outbox }), await showStatus({ outbox, wide: true })]
    for (const part of ['/…wxyz', '/…abcd', 'Newsletter of the painters Newsletter of the painters']) expect(wide).toContain(part)
    for (const part of ['/…wxyz 127.0.0.1', '/…abcd 127.0.0.1', 'Newsletter']) expect(narrow).toContain(part)
    expect(wide).toContain(all.attempts[0]?.next_at)
    expect(wide).not.toContain('services')
    expect(await showDeliveries({ outbox, state: 'dead' })).toBe('No delivery is dead.\n')
    expect(await showDeliveries({ outbox, json: true, state: 'dead' })).toBe('')
  })

  test('show when an open circuit lets a probe through, and forget the last error after a success', async () => {
    const hook = await receiver(status(500))
    const all = await bench({ retrySchedule: [0, 0, 0, 0, 0, 0.01], breakerCooldown: 600 })
    await all.append(endpoint(hook.url), event('a'), event('b'))
    const shown = async () => JSON.parse(await showStatus({ outbox: all.directory, json: true })).endpoints[0]
    await until(async () => (await shown())?.circuit === 'open', 'the circuit opens')
    const { next_probe_at, next_attempt_at, last_error } = await shown()
    expect([next_attempt_at, last_error]).toEqual([next_probe_at, 'status 500'])
    const wait = Date.parse(next_probe_at) - all.relay.now()
    expect([wait > 300_000, wait <= 600_000]).toEqual([true, true])
    hook.respond = status(204)
    await all.restart({ breakerCooldown: 0.01 })
    await until(async () => (await shown()).circuit === 'closed', 'the circuit closes')
    expect(await shown()).toMatchObject({ next_probe_at: null, next_attempt_at: null, last_error: null })
  })

  test('say their version, and say errors as JSON to programs', async () => {
    const version = run('folkmoot-relay', '--version')
    expect([await version.ended, version.out.stdout]).toEqual([0, expect.stringMatching(/^\d+\.\d+\.\d+\n$/)])
    for (const args of [['status'], ['status', '--nonsense']]) {
      const { code, stderr } = await command(...args)
      expect([code, Object.keys(JSON.parse(stderr))]).toEqual([2, ['error']])
    }
  })

  test('choose by event type, and resend so many a second', async () => {
    const hook = await receiver(status(500))
    const all = await bench({ retrySchedule: [0], breakerThreshold: 1000 })
    await all.append(endpoint(hook.url), ...events('e', 5), event('other', { event_type: 'MemberJoinedHook' }))
    await dead(all, 6)
    const found = await command('deliveries', '--outbox', all.directory, '--event-type', 'MemberJoined')
    expect(found.records).toMatchObject([{ event_id: 'other', history: [{ outcome: 'status', status: 500 }] }])
    await all.relay.close()
    const resent = await command('resend', '--outbox', all.directory, '--event-type', 'PostCreatedHook', '--per-second', '0.01')
    expect(resent.records).toEqual([{ resent: 5 }])
    const waiting = (await command('deliveries', '--outbox', all.directory, '--state', 'pending')).records
    const due = waiting.map(({ next_attempt_at }) => Date.parse(next_attempt_at)).sort((a, b) => a - b)
    expect(due.slice(1).map((time, index) => time - (due[index] ?? 0))).toEqual([100_000, 100_000, 100_000, 100_000])
  })

  test('tell how the receiver put its refusal, up to 8 KiB, with its headers', async () => {
    const headers = { 'x-request-id': 'r-7', 'set-cookie': 'session=1', 'x-long': 'x'.repeat(8000) }
    const hook = await receiver((_, response) => void response.writeHead(422, headers).end('no such space. '.repeat(1000)))
    const all = await bench({ retrySchedule: [0] })
    await all.append(endpoint(hook.url), event('a'))
    await dead(all, 1)
    const [{ history }] = (await command('dead', '--outbox', all.directory)).records
    expect(history).toMatchObject([{ status: 422, answer: 'no such space. '.repeat(1000).slice(0, 8192), reason: null }])
    expect(history[0].answer_headers).toMatch(/^x-request-id: r-7\nx-long: x+$/)
    expect(history[0].answer_headers).toHaveLength(4096)
  })

  test('list deliveries by how long their latest attempt took', async () => {
    const slow = await receiver((_, response) => void setTimeout(() => response.writeHead(204).end(), 400))
    const quick = await receiver()
    const all = await bench()
    await all.append(endpoint(slow.url, { id: '1' }), endpoint(quick.url, { id: '2' }), event('a'))
    await until(() => all.attempts.length === 2, 'both are delivered')
    await all.relay.close()
    const listed = async (milliseconds: string) =>
      (await command('deliveries', '--outbox', all.directory, '--min-milliseconds', milliseconds)).records.map(
        ({ endpoint_id }) => endpoint_id,
      )
    expect(await listed('400')).toEqual(['1'])
    expect((await listed('0')).sort()).toEqual(['1', '2'])
    expect((await command('deliveries', '--outbox', all.directory, '--min-milliseconds', 'long')).stderr).toContain(
      '--min-milliseconds takes a whole number',
    )
  })

  test('list and resend deliveries by when their latest attempt was, whatever the age of their events', async () => {
    const hook = await receiver(status(500))
    const all = await bench({ retrySchedule: [0] })
    await all.append(endpoint(hook.url), event('a'))
    await dead(all, 1)
    const [{ last_attempt_at }] = (await command('dead', '--outbox', all.directory)).records
    const at = Date.parse(last_attempt_at)
    const found = async (since: number) =>
      (await command('dead', '--outbox', all.directory, '--last-attempt-since', new Date(since).toISOString())).records.length
    expect([await found(at - 1), await found(at), await found(at + 1)]).toEqual([1, 1, 0])
    const later = new Date(at + 1).toISOString()
    const resent = (since: string) => command('resend', '--outbox', all.directory, '--last-attempt-since', since)
    expect([(await resent(later)).records, (await resent(last_attempt_at)).records]).toEqual([[{ resent: 0 }], [{ resent: 1 }]])
  })

  test('list and resend deliveries by the subject of their events', async () => {
    const hook = await receiver(status(500))
    const all = await bench({ retrySchedule: [0], breakerThreshold: 1000 })
    const grace = event('grace', { subject: 'member:1001', event_type: 'MemberUpdatedHook' })
    await all.append(endpoint(hook.url), event('a'), grace, event('b', { subject: 'member:100' }))
    await dead(all, 3)
    await all.relay.close()
    const of = (name: string, ...flags: readonly string[]) => command(name, '--outbox', all.directory, ...flags)
    expect((await of('deliveries', '--subject', 'member:1001')).records).toMatchObject([{ event_id: 'grace' }])
    expect((await of('deliveries', '--subject', 'member:7')).records).toEqual([])
    expect((await of('deliveries', '--subject', 'x'.repeat(201))).stderr).toContain('--subject takes the subject of events')
    expect((await of('resend', '--subject', 'member:1001')).records).toEqual([{ resent: 1 }])
    expect((await of('deliveries', '--state', 'pending')).records).toMatchObject([{ event_id: 'grace' }])
  })

  test('say why a resend finds nothing', async () => {
    const hook = await receiver(({ id }, response) => void response.writeHead(id === 'bad' ? 500 : 204).end())
    const all = await bench({ retrySchedule: [0], breakerThreshold: 1000 })
    await all.append(endpoint(hook.url), ...events('e', 2), event('bad'))
    await until(() => all.attempts.length === 3, 'all are tried')
    const resent = async (...flags: readonly string[]) =>
      (await ended('folkmoot-relay', 'resend', '--outbox', all.directory, ...flags)).stdout
    expect(await resent('--event-id', 'e0')).toBe(
      '0 deliveries are due again: none of the chosen deliveries is dead; 1 is delivered (--state delivered sends it again)\n',
    )
    expect(await resent('--all', '--state', 'skipped')).toBe(
      '0 deliveries are due again: none of the chosen deliveries is skipped; 2 are delivered (--state delivered sends them again), 1 is dead (--state dead sends it again)\n',
    )
    expect(await resent('--event-id', 'other')).toBe('0 deliveries are due again: no delivery matches\n')
    expect((await command('resend', '--outbox', all.directory, '--event-id', 'e0')).records).toEqual([{ resent: 0 }])
    expect(await resent('--min-milliseconds', '0')).toBe('1 delivery is due again\n')
  })

  test('say why there was no response', async () => {
    const hook = await receiver((_, response) => void response.destroy())
    const all = await bench({ retrySchedule: [0] })
    await all.append(endpoint(hook.url), event('a'))
    await dead(all, 1)
    const [{ history }] = (await command('dead', '--outbox', all.directory)).records
    expect(history).toMatchObject([{ status: null, outcome: 'reset', answer: null, reason: 'UND_ERR_SOCKET' }])
  })

  test('test an endpoint with a relay running', async () => {
    const hook = await receiver()
    const all = await bench()
    await all.append(endpoint(hook.url))
    await until(() => all.relay.scheduler.endpoint(1) !== undefined, 'the endpoint is known')
    const flags = ['endpoints', 'test', '--outbox', all.directory, '--allow-http', '--allow-private']
    const good = await command(...flags, '--endpoint-id', '7')
    expect([good.code, good.records]).toMatchObject([0, [{ outcome: 'delivered', status: 204 }]])
    hook.respond = (_request, response) => response.writeHead(500).end('no such table: members')
    const bad = await command(...flags, '--endpoint-id', '7', '--network-id', '1')
    expect([bad.code, bad.records]).toMatchObject([1, [{ outcome: 'status', status: 500, answer: 'no such table: members' }]])
    expect(await command(...flags, '--endpoint-id', '8')).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/there is no endpoint 8/),
    })
  })

  test('check settings, endpoints and the outbox, and change nothing', async () => {
    const hook = await receiver()
    const all = await bench()
    await all.append(endpoint(hook.url), event('a'))
    await until(() => hook.received.length === 1, 'it is delivered')
    await all.relay.close(0)
    await all.append(event('waits'))
    const strict = await command('check', '--outbox', all.directory)
    expect([strict.code, strict.records[0].problems.length]).toEqual([1, 1])
    const lenient = await command('check', '--outbox', all.directory, '--allow-http', '--allow-private')
    expect([lenient.code, lenient.records]).toEqual([
      0,
      [{ ok: true, running: false, endpoints: 1, waiting_commits: 1, problems: [] }],
    ])
  })

  test.each([
    [['status', '--outbox', '/nowhere/at/all'], /no relay has run/],
    [['resend', '--outbox', '/nowhere/at/all'], /--event-id, .* --since, --until to choose by, or --all/],
    [['resend', '--outbox', '/nowhere/at/all', '--limit', '5', '--per-second', '1'], /a resend needs one of --endpoint-id/],
    [['resend', '--outbox', '/nowhere/at/all', '--all', '--state', 'pending'], /--state is one of delivered, dead/],
    [['deliveries', '--outbox', '/nowhere/at/all', '--network-id', 'paint-pals'], /--network-id takes the id of a network/],
    [['deliveries', '--outbox', '/nowhere/at/all', '--state', 'odd'], /--state is one of/],
    [['deliveries', '--outbox', '/nowhere/at/all', '--since', 'yesterday'], /--since takes a date/],
    [['dead', '--outbox', '/nowhere/at/all', '--limit', '0'], /--limit takes/],
    [['run', '--outbox', '/nowhere/at/all', '--control-port', 'x'], /--control-port/],
    [['resend', '--outbox', '/nowhere/at/all', '--all', '--per-second', '0'], /--per-second takes/],
    [['endpoints', 'test', '--outbox', '/nowhere/at/all'], /endpoints test needs --endpoint-id/],
    [['nonsense'], /unknown/],
    [['run', '--outbox', 'sqlite:/nowhere/at/all.sqlite'], /there is no outbox at sqlite:\/nowhere/],
    [['run', '--outbox', 'mysql://db.example/community'], /got one that begins with mysql:/],
  ])('end %j with exit code 2', async (args, sentence) => {
    const { code, stderr } = await command(...args)
    expect([code, stderr]).toEqual([2, expect.stringMatching(sentence)])
  })
})

/** A control over one dead delivery. */
async function resendable() {
  const all = await controlled(status(500))
  await all.append(endpoint(all.hook.url), event('a'))
  await until(async () => JSON.stringify(await all.ask('GET', '/deliveries?state=dead')).includes('"a"'), 'it is dead')
  return all
}

describe('the control', () => {
  test('shows health and figures to anybody on this machine, and the rest only with the key', async () => {
    const { ask, directory } = await controlled()
    expect(await ask('GET', '/livez', undefined, {})).toEqual({ status: 200, body: { alive: true } })
    expect(await ask('GET', '/readyz', undefined, {})).toEqual({ status: 200, body: { ready: true } })
    expect((await ask('GET', '/metrics', undefined, {})).status).toBe(200)
    for (const [method, path] of [
      ['GET', '/status'],
      ['GET', '/deliveries'],
      ['POST', '/resends'],
      ['POST', '/networks/1/endpoints/7/test'],
    ] as const)
      expect((await ask(method, path, undefined, { authorization: 'Bearer wrong' })).status).toBe(401)
    expect(statSync(controlTokenPath(directory)).mode & 0o777).toBe(0o600)
    expect((await ask('GET', '/status')).status).toBe(200)
    expect((await ask('GET', '/status', undefined, { authorization: `bearer ${controlToken(directory)}` })).status).toBe(200)
    expect((await ask('GET', '/status', undefined, { authorization: controlToken(directory) })).status).toBe(401)
    expect((await ask('GET', '/nothing')).status).toBe(404)
  })

  test('responds to HEAD about health, and takes a client that leaves for no fault of the relay', async () => {
    const { ask, port, directory, faults } = await controlled()
    for (const path of ['/livez', '/readyz', '/metrics'])
      expect(await ask('HEAD', path, undefined, {})).toEqual({ status: 200, body: '' })
    const socket = connect(port, '127.0.0.1')
    socket.end(
      `POST /resends HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${controlToken(directory)}\r\nContent-Length: 9\r\n\r\n{"all`,
    )
    await once(socket.resume(), 'close')
    expect((await ask('GET', '/status')).status).toBe(200)
    expect(faults).toEqual([])
  })

  test('does not say where it is without a key', async () => {
    const { ask, directory } = await controlled()
    const refused = await ask('GET', '/status', undefined, {})
    expect(refused.status).toBe(401)
    expect(JSON.stringify(refused.body)).not.toContain(directory)
  })

  test('gives the reason of a failed operation in the log, and not in the response', async () => {
    const unusable = temporaryDirectory()
    mkdirSync(storePath(unusable), { recursive: true })
    const { ask, faults } = await controlled(status(204), unusable)
    const response = await ask('GET', '/status')
    expect(response).toEqual({ status: 500, body: { error: 'this failed; see the log' } })
    expect(faults).toEqual([['the control cannot respond to GET /status', expect.any(Error)]])
  })

  test('counts attempts by endpoint and outcome, and never names a URL', async () => {
    const { ask, hook, append, attempts } = await controlled()
    await append(endpoint(`${hook.url}?token=secret`), ...events('e', 3), event('waits', { network_id: '2' }))
    await until(() => attempts.length === 0 && hook.received.length === 3, 'three are delivered')
    await until(async () => String((await ask('GET', '/metrics')).body).includes('outcome="delivered"} 3'), 'they are counted')
    const { body } = await ask('GET', '/metrics')
    for (const line of [
      'relay_attempts_total{endpoint="7",outcome="delivered"} 3',
      'relay_outbox_oldest_pending_seconds 0',
      'relay_breaker_state{endpoint="7"} 0',
      'relay_build_info{version="1.2.3"} 1',
      'relay_inflight 0',
    ])
      expect(body).toContain(line)
    expect(body).not.toMatch(/secret|http|127\.0/)
  })

  test('shows the age of the oldest event that waits', async () => {
    const { ask, hook, append } = await controlled(status(500))
    await append(endpoint(hook.url, { enabled: false }), event('a'))
    await until(async () => /^relay_outbox_pending_events 1$/m.test(String((await ask('GET', '/metrics')).body)), 'it waits')
    await pass(50)
    const age = /^relay_outbox_oldest_pending_seconds (\S+)/m.exec(String((await ask('GET', '/metrics')).body))?.[1]
    expect(Number(age)).toBeGreaterThan(0)
  })

  test('tests an endpoint, resends, and lifts what the relay itself disabled', async () => {
    const { ask, hook, append, notices } = await controlled(status(410))
    await append(endpoint(hook.url), event('a'))
    await until(() => notices.includes('endpoint.disabled'), 'it is disabled')
    expect((await ask('POST', '/networks/1/endpoints/7/test')).body).toMatchObject({ outcome: 'status', status: 410 })
    hook.respond = status(204)
    expect((await ask('POST', '/networks/1/endpoints/7/test')).body).toMatchObject({ outcome: 'delivered', status: 204 })
    expect((await ask('POST', '/networks/1/endpoints/8/test')).status).toBe(404)
    expect(await ask('POST', '/networks/1/endpoints/7/enable')).toEqual({ status: 200, body: { enabled: true } })
    await until(() => hook.received.at(-1)?.id === 'a', 'what waited is delivered')
    expect((await ask('POST', '/resends')).status).toBe(422)
    await until(
      async () => /^relay_outbox_pending_events 0$/m.test(String((await ask('GET', '/metrics')).body)),
      'it is recorded',
    )
    expect(await ask('POST', '/resends', { event_id: 'a', state: 'delivered' })).toMatchObject({
      status: 200,
      body: { of: { count: 1, exact: true } },
    })
    await until(() => hook.received.filter(({ id }) => id === 'a').length === 3, 'it is delivered again')
    // A receiver that sorts by it must not treat the test in another way.
    expect(new Set(hook.received.map(({ headers }) => headers['user-agent'])).size).toBe(1)
  })

  test('resends nothing when it is asked in unknown words', async () => {
    const { ask } = await resendable()
    for (const [body, sentence] of [
      [{}, /a resend needs one of endpoint_id, network_id, .* since, until to choose by, or "all": true/],
      [{ limit: 100 }, /a resend needs/],
      [{ per_second: 5 }, /a resend needs/],
      [{ state: 'delivered' }, /a resend needs/],
      [{ all: false }, /all must be true/],
      [{ all: 'true' }, /all must be true/],
      [{ all: true, state: 'pending' }, /state is one of delivered, dead/],
      [{ endpont: '7' }, /there is no `endpont` here; allowed: state, endpoint_id,/],
      [JSON.parse('{"__proto__": {"all": true}}'), /there is no `__proto__` here/],
      [{ toString: 1 }, /there is no `toString` here/],
      [{ all: true, limit: 0 }, /limit takes a whole number/],
      [{ all: true, limit: '1e9' }, /limit takes a whole number/],
      [{ all: true, per_second: null }, /per_second takes deliveries per second/],
      [{ endpoint_id: ['7'] }, /endpoint_id takes the id of an endpoint/],
      [{ endpoint_id: '' }, /endpoint_id takes the id of an endpoint/],
      [{ since: 5 }, /since takes a date and time/],
      [{ since: 'yesterday' }, /since takes a date and time/],
      [{ since: '2026-02-31' }, /since takes a date and time that exists/],
      [{ until: '2026-02-31T10:00:00Z' }, /until takes a date and time that exists/],
      [{ endpoint_id: '8' }, /there is no endpoint 8/],
      [{ network_id: '2' }, /there is no endpoint of network 2/],
      [{ event_type: 'Nonsense' }, /there is no event type NonsenseHook/],
      [[], /must be a JSON object/],
      [[{ all: true }], /must be a JSON object/],
    ] as const)
      expect(await ask('POST', '/resends', body), JSON.stringify(body)).toEqual({
        status: 422,
        body: { error: expect.stringMatching(sentence) },
      })
    expect(await ask('GET', '/deliveries?state=dead')).toMatchObject({ body: { items: [{ event_id: 'a', state: 'dead' }] } })
  })

  test('lists nothing when it is asked in unknown words', async () => {
    const { ask } = await resendable()
    for (const [path, sentence] of [
      ['/deliveries?statu=dead', /there is no `statu` here; allowed: state, endpoint_id, network_id, event_id, event_type/],
      ['/deliveries?state=odd', /state is one of pending, delivered, dead/],
      ['/deliveries?state=dead&state=pending', /a parameter may be given once: `state` is there twice/],
      ['/deliveries?rate=5', /there is no `rate` here/],
      ['/deliveries?endpoint_id=8', /there is no endpoint 8/],
      ['/deliveries?event_type=Nonsense', /there is no event type NonsenseHook/],
      ['/deliveries?since=2026-02-31T10:00:00Z', /since takes a date and time that exists/],
      ['/deliveries?limit=-1', /limit takes a whole number/],
      ['/status?endpoint_id=7', /there is no `endpoint_id` here/],
    ] as const)
      expect(await ask('GET', path), path).toEqual({ status: 422, body: { error: expect.stringMatching(sentence) } })
  })

  test('is asked by `endpoints test`, so that the settings of the running relay hold', async () => {
    const { append, directory, hook, relay } = await controlled()
    await append(endpoint(hook.url))
    await until(() => relay.scheduler.endpoint(1) !== undefined, 'the endpoint is known')
    const flags = { outbox: directory, networkId: '1', endpointId: '7' }
    // Its own flags would allow neither plain HTTP nor this address.
    const { ok, text } = await testEndpoint({ ...flags, json: true }, '1.2.3')
    expect([ok, JSON.parse(text)]).toMatchObject([true, { outcome: 'delivered', status: 204, sent_by: 'relay' }])
  })

  test('is not needed by `endpoints test`, which reports it, and names the flag that lifts a rule', async () => {
    const hook = await receiver()
    const all = await bench()
    await all.append(endpoint(hook.url))
    await until(() => all.relay.scheduler.endpoint(1) !== undefined, 'the endpoint is known')
    const flags = { outbox: all.directory, networkId: '1', endpointId: '7' }
    const tests = [flags, { ...flags, allowHttp: true }, { ...flags, allowHttp: true, allowPrivate: true }]
    const [http, address, delivered] = await Promise.all(tests.map((each) => testEndpoint(each, '1.2.3')))
    expect(http?.text).toMatch(
      /^not delivered: blocked \(.*; --allow-http, or the setting `allowHttp`, allows plain HTTP; sent with the flags/,
    )
    expect(address?.text).toContain('--allow-addresses, or the setting `allowAddresses`, allows such addresses')
    expect(delivered?.text).toMatch(
      /^delivered \(.*; sent with the flags of this command: the running relay has no control port\n$/,
    )
  })

  test.each(['//', 'http://[', '/%', '*'])('responds to a request for %j, and continues', async (path) => {
    const { port, ask } = await controlled()
    const code = await new Promise((done) => {
      request({ port, host: '127.0.0.1', path, method: path === '*' ? 'OPTIONS' : 'GET' }, (response) => {
        response.resume()
        done(response.statusCode)
      }).end()
    })
    expect([401, 404]).toContain(code)
    expect((await ask('GET', '/livez')).status).toBe(200)
  })

  test('listens to whoever calls it by its own name alone', async () => {
    const { port } = await controlled()
    const called = (...names: readonly string[]) =>
      new Promise((done) => {
        const headers = names.flatMap((name) => ['Host', name])
        request({ port, host: '127.0.0.1', path: '/livez', headers, setHost: false }, (response) => {
          response.resume()
          done(response.statusCode)
        }).end()
      })
    expect(await called('127.0.0.1')).toBe(200)
    expect(await called('LocalHost:9000')).toBe(200)
    expect(await called('evil.example')).toBe(403)
    expect(await called('127.0.0.1', 'evil.example')).toBe(403)
    expect(await called('127.0.0.1', '127.0.0.1')).toBe(403)
  })
})

test('an event that the operator has delivered goes to its endpoint alone', async () => {
  const [hook, other] = [await receiver(), await receiver()]
  const all = await bench()
  await all.append(endpoint(hook.url, { order: 'subject' }), endpoint(other.url, { id: '8' }), event('a'))
  await until(() => hook.received.length + other.received.length === 2, 'both have the first event')
  const store = await openOperatorStore(all.directory)
  onTestFinished(() => store.close())
  const [chosen] = (await store.knownEndpoints()).filter(({ id }) => id === '7')
  if (!chosen) throw new Error('the endpoint is missing')
  await store.deliver(chosen, event('b'), Date.now())
  await all.append(event('c'))
  await until(() => hook.received.length === 3 && other.received.length === 2, 'everything is delivered')
  expect(hook.received.map(({ id }) => id).sort()).toEqual(['a', 'b', 'c'])
  expect(other.received.map(({ id }) => id)).toEqual(['a', 'c'])
})

describe('the maintenance', () => {
  test('removes delivered events and dead deliveries when their days are over, and nothing else', async () => {
    const hook = await receiver(({ id }, response) => void response.writeHead(id === 'bad' ? 500 : 204).end())
    const all = await bench({ retrySchedule: [0], breakerThreshold: 100, keepDelivered: 1 / 86_400, keepDead: 3650 })
    await all.append(endpoint(hook.url), ...events('e', 20), event('bad'))
    await until(() => all.attempts.length === 21, 'all attempts are over')
    await pass(1100)
    await all.append(event('fresh'))
    await until(() => all.attempts.length === 22, 'the fresh one is delivered')
    await all.relay.maintenance.purge()
    const store = await openOperatorStore(all.directory)
    const left = (await store.deliveries({ limit: 100 })).map(({ event_id }) => event_id)
    await store.close()
    expect(left).toEqual(['fresh', 'bad'])
    all.relay.reconfigure({ ...all.relay.settings, keepDead: 1 / 86_400 })
    await all.relay.maintenance.purge()
    const later = await openOperatorStore(all.directory)
    expect(await later.deliveries({ limit: 100, state: 'dead' })).toEqual([])
    await later.close()
  })

  test('disables an endpoint that has failed for as long as the operator allows, and keeps its events', async () => {
    const hook = await receiver(status(500))
    const all = await bench({
      retrySchedule: [0, ...Array.from({ length: 40 }, () => 0.05)],
      breakerThreshold: 100,
      disableAfter: 0.3 / 86_400,
    })
    await all.append(endpoint(hook.url), event('a'))
    await until(() => all.attempts.length > 2, 'it fails')
    all.relay.maintenance.giveUp()
    expect(all.notices).toEqual([])
    await until(() => {
      all.relay.maintenance.giveUp()
      return all.notices.some(({ kind }) => kind === 'endpoint.disabled')
    }, 'it is given up')
    const made = all.attempts.length
    await pass(300)
    expect(all.attempts.length).toBeLessThanOrEqual(made + 1)
    hook.respond = status(204)
    await all.append(endpoint(hook.url))
    await until(() => all.attempts.at(-1)?.state === 'delivered', 'it is delivered after all')
  })

  test('clears the failures of an endpoint that is registered again: its days of failure are over', async () => {
    const hook = await receiver(status(500))
    const all = await bench({
      retrySchedule: [0, ...Array.from({ length: 90 }, () => 0.1)],
      breakerThreshold: 100,
      disableAfter: 0.3 / 86_400,
    })
    const disabled = () => all.notices.filter(({ kind }) => kind === 'endpoint.disabled')
    await all.append(endpoint(hook.url), event('a'))
    await until(() => {
      all.relay.maintenance.giveUp()
      return disabled().length > 0
    }, 'it is given up')
    const { promise: mayRespond, resolve: respond } = Promise.withResolvers<void>()
    hook.respond = (_, response) => void mayRespond.then(() => response.writeHead(204).end())
    const before = hook.received.length
    await all.append(endpoint(hook.url))
    await until(() => hook.received.length > before, 'it is sent to again')
    all.relay.maintenance.giveUp()
    respond()
    await until(() => all.attempts.at(-1)?.state === 'delivered', 'it is delivered')
    expect(disabled()).toHaveLength(1)
  })

  test('remembers over a restart that the failures of an endpoint were cleared', async () => {
    const hook = await receiver(status(500))
    // Two attempts, as one failure is no span: a third one after the endpoint is registered again would be a failure anew.
    const all = await bench({ retrySchedule: [0, 0.1, 3600], breakerThreshold: 100, disableAfter: 0.05 / 86_400 })
    const disabled = () => all.notices.filter(({ kind }) => kind === 'endpoint.disabled')
    await all.append(endpoint(hook.url), event('a'))
    await until(() => {
      all.relay.maintenance.giveUp()
      return disabled().length > 0
    }, 'it is given up')
    // From now on nothing gets a response: no attempt that fails is to be recorded over what is waited for.
    hook.respond = () => undefined
    await until(() => all.relay.scheduler.inFlight === 0, 'nothing is in flight')
    await all.append(endpoint(hook.url))
    const stored = async () => (await all.relay.store.endpoints())[0]
    await until(async () => (await stored())?.endpoint.disabled === null, 'it is registered again')
    await until(async () => (await stored())?.state?.failingSince === null, 'that is recorded')
    await all.restart()
    all.relay.maintenance.giveUp()
    await pass(50)
    expect(disabled()).toHaveLength(1)
  })
})
