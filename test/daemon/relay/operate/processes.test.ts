import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { openOutbox } from '../../../../adapters/outbox/file.ts'
import { storePath } from '../../../../daemon/relay/open-store.ts'
import { openSqliteStore } from '../../../../daemon/relay/store/sqlite/store.ts'
import { type BegunRelay, begunRelay } from '../../../support/begun.ts'
import { type Command, environment, program, run, watched } from '../../../support/command.ts'
import { temporaryDirectory } from '../../../support/directory.ts'
import { ended } from '../../../support/program.ts'
import { endpoint, event, events, pass, receiver, status, until } from '../support.ts'

const start = (directory: string, ...flags: string[]): Command =>
  run('folkmoot-relay', 'run', '--outbox', directory, '--allow-http', '--allow-private', '--json', ...flags)

/** A relay in this process. */
const begin = (directory: string, ...flags: string[]): BegunRelay =>
  begunRelay('run', '--outbox', directory, '--allow-http', '--allow-private', '--json', ...flags)

const lines = ({ out }: Pick<Command, 'out'>): Record<string, unknown>[] =>
  out.stdout
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Record<string, unknown>)

const started = (command: Pick<Command, 'out'>): Promise<void> =>
  until(() => lines(command).some(({ message }) => message === 'relay.started'), 'the relay has started')

describe('folkmoot-relay run', () => {
  test('limits the young generation of its process, once', async ({ skip }) => {
    skip(process.platform !== 'linux', 'how a process was started is in /proc, which Linux alone has')
    const words = [program('folkmoot-relay'), 'run', '--outbox', temporaryDirectory(), '--json']
    const relay = watched(
      'folkmoot-relay',
      spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'pipe'], env: environment() }),
    )
    await started(relay)
    const args = readFileSync(`/proc/${relay.child.pid}/cmdline`, 'utf8').split('\0')
    expect(args.filter((each) => each.startsWith('--max-semi-space-size'))).toEqual(['--max-semi-space-size=16'])
    relay.child.kill('SIGTERM')
    expect({ code: await relay.ended, stderr: relay.out.stderr }).toEqual({ code: 0, stderr: '' })
  })

  test('ends what is in flight when it is asked to stop, and takes nothing new', async () => {
    const directory = temporaryDirectory()
    const hook = await receiver((_, response) => void setTimeout(() => response.writeHead(204).end(), 700))
    const outbox = await openOutbox({ directory })
    await outbox.append([[endpoint(hook.url)], ...events('e', 30).map((each) => [each])])
    const relay = start(directory)
    await until(() => hook.received.length > 3, 'some are in flight')
    relay.child.kill('SIGTERM')
    expect(await relay.ended).toBe(0)
    const delivered = lines(relay).filter(({ state }) => state === 'delivered')
    expect(delivered.length).toBe(hook.received.length)
    expect(hook.received.length).toBeLessThan(30)
    await outbox.close()
  })

  test('aborts what is in flight when it is asked twice, and that uses up no attempt', async () => {
    const directory = temporaryDirectory()
    const hook = await receiver(() => undefined)
    const outbox = await openOutbox({ directory })
    await outbox.append([[endpoint(hook.url)], [event('a')]])
    const relay = begin(directory)
    await until(() => hook.received.length === 1, 'it is in flight')
    relay.signal('SIGTERM')
    await until(() => lines(relay).some(({ message }) => message === 'relay.stopping'), 'it is stopping')
    relay.signal('SIGTERM')
    expect(await relay.ended).toBe(0)
    const store = await openSqliteStore(storePath(directory))
    const recovered = await store.recover(0)
    const { ref = 0 } = recovered.endpoints[0]?.endpoint ?? {}
    const waiting = (await store.peek([ref], 'first', 10)).get(ref) ?? []
    await store.close()
    expect(waiting).toMatchObject([{ attempts: 0, interruptions: 0 }])
    await outbox.close()
  })

  test('is refused, with exit code 2 and one sentence, while another one works on the same outbox', async () => {
    const directory = temporaryDirectory()
    const relay = start(directory)
    await started(relay)
    const second = start(directory)
    expect(await second.ended).toBe(2)
    expect(second.out.stderr).toMatch(/^\{"error":"another relay uses this outbox: .*process \d+.*"\}\n$/)
    relay.child.kill('SIGTERM')
    expect(await relay.ended).toBe(0)
    const third = start(directory)
    await started(third)
  })

  test('reads its configuration again on SIGHUP, and keeps the old one when that is wrong', async () => {
    const directory = temporaryDirectory()
    const config = join(directory, 'relay.json')
    const hook = await receiver()
    const outbox = await openOutbox({ directory })
    writeFileSync(config, '{"retrySchedule":[0,0.1,0.1,0.1,0.1,0.1,0.1,0.1,0.1,0.1,3600]}')
    const relay = begunRelay('run', '--outbox', directory, '--config', config, '--allow-http', '--json')
    await started(relay)
    await outbox.append([[endpoint(hook.url)], [event('a')]])
    await until(() => lines(relay).some(({ outcome }) => outcome === 'blocked'), 'an attempt is refused by the guard')
    writeFileSync(config, '{"retrySchedule":')
    relay.signal('SIGHUP')
    const wrong = () => lines(relay).filter(({ message }) => message === 'relay.not_reloaded')
    await until(() => wrong().length === 1, 'it says that it is wrong')
    writeFileSync(config, '{"ca": "a-secret"\n"timeout": broken}')
    relay.signal('SIGHUP')
    await until(() => wrong().length === 2, 'it says that again')
    writeFileSync(config, '{"ca": {"a-secret": 1}, "timeout": "a-secret", "a\\nsecret": 1}')
    relay.signal('SIGHUP')
    await until(() => wrong().length === 3, 'and again')
    for (const { reason } of wrong()) {
      expect(reason).toContain(`--config ${config}`)
      expect(reason).not.toMatch(/secret|broken|\n/)
    }
    writeFileSync(config, '{"retrySchedule":[0,0.1,0.1,0.1],"allowPrivate":true}')
    relay.signal('SIGHUP')
    await until(() => lines(relay).some(({ message }) => message === 'relay.reloaded'), 'it is reloaded')
    await outbox.append([[event('b')]])
    await until(() => hook.received.some(({ id }) => id === 'b'), 'it is delivered')
    await outbox.close()
  })

  test('sets a delivery aside that was in flight at three deaths of the process', async () => {
    const directory = temporaryDirectory()
    const hook = await receiver(({ id }, response) => void (id === 'poison' || response.writeHead(204).end()))
    const outbox = await openOutbox({ directory })
    await outbox.append([[endpoint(hook.url)], [event('poison')]])
    for (let death = 1; death <= 3; death++) {
      const relay = start(directory)
      await until(() => hook.received.length === death, 'it is in flight')
      // Its start is recorded before it is sent.
      relay.child.kill('SIGKILL')
      await relay.ended
    }
    const relay = start(directory)
    await outbox.append([[event('good')]])
    await until(() => hook.received.some(({ id }) => id === 'good'), 'the others go on')
    await pass(300)
    expect(hook.received.filter(({ id }) => id === 'poison')).toHaveLength(3)
    expect(lines(relay).filter(({ kind }) => kind === 'delivery.poisoned')).toMatchObject([
      { event_id: 'poison', endpoint_id: '7' },
    ])
    await outbox.close()
  })

  test('continues when no one reads its log any more', async () => {
    const directory = temporaryDirectory()
    const hook = await receiver()
    const outbox = await openOutbox({ directory })
    const relay = start(directory)
    await started(relay)
    relay.child.stdout?.destroy()
    await outbox.append([[endpoint(hook.url)], ...events('e', 200).map((each) => [each])])
    await until(() => hook.received.length === 200, 'all are delivered')
    relay.child.kill('SIGTERM')
    expect(await relay.ended).toBe(0)
    await outbox.close()
  })

  test('ends though the reader of its log has stopped reading', async () => {
    const directory = temporaryDirectory()
    const hook = await receiver()
    const outbox = await openOutbox({ directory })
    const words = ['run', '--outbox', directory, '--allow-http', '--allow-private', '--json']
    const relay = spawn(process.execPath, [program('folkmoot-relay'), ...words], {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: environment(),
    })
    onTestFinished(() => void relay.kill('SIGKILL'))
    const exit = once(relay, 'exit')
    // More lines than a pipe holds, and no one takes one.
    await outbox.append([[endpoint(hook.url)], ...events('e', 2000).map((each) => [each])])
    await until(() => hook.received.length === 2000, 'all are delivered')
    relay.kill('SIGTERM')
    expect(await exit).toEqual([0, null])
    await outbox.close()
  })

  test('ends though its log is on a full disk, and so do commands, with the exit code 1', async ({ skip }) => {
    skip(process.platform !== 'linux', 'only Linux has a device that is always full')
    const full = openSync('/dev/full', 'w')
    onTestFinished(() => closeSync(full))
    const directory = temporaryDirectory()
    const hook = await receiver()
    const outbox = await openOutbox({ directory })
    const begin = (...words: string[]) => {
      const child = spawn(process.execPath, [program('folkmoot-relay'), ...words, '--outbox', directory], {
        stdio: ['ignore', full, 'pipe'],
        env: environment(),
      })
      onTestFinished(() => void child.kill('SIGKILL'))
      return { child, ended: Promise.all([once(child, 'close'), child.stderr?.setEncoding('utf8').toArray()]) }
    }
    const relay = begin('run', '--allow-http', '--allow-private')
    await outbox.append([[endpoint(hook.url)], [event('a')]])
    await until(() => hook.received.length === 1, 'it is delivered')
    relay.child.kill('SIGTERM')
    expect(await relay.ended).toEqual([[0, null], []])
    expect(await begin('status').ended).toEqual([
      [1, null],
      ['folkmoot-relay: standard output cannot be written (ENOSPC), so what it has is not whole\n'],
    ])
    await outbox.close()
  })

  test('never logs a key, a body, a secret or an address', async () => {
    const directory = temporaryDirectory()
    const hook = await receiver(status(500))
    const outbox = await openOutbox({ directory })
    const secret = `whsec_${Buffer.alloc(24, 7).toString('base64')}`
    await outbox.append([
      [endpoint(`${hook.url}?token=query-secret`, { key: 'key-secret', secrets: [secret] })],
      [event('a', { body: '{"event_id":"a","text":"body-secret"}' })],
    ])
    const relay = begin(directory, '--retry-schedule', '0,0.05')
    await until(() => lines(relay).some(({ state }) => state === 'dead'), 'it is dead')
    for (const word of ['query-secret', 'key-secret', 'body-secret', secret, String(hook.port)])
      expect(relay.out.stdout + relay.out.stderr).not.toContain(word)
    await outbox.close()
  })

  test.each([
    [[], /--outbox is missing: .* or set FOLKMOOT_OUTBOX$/m],
    [['--outbox', '/tmp/x', '--timeout', 'soon'], /--timeout takes seconds/],
    [['--outbox', '/tmp/x', '--retry-schedule', '0,,5'], /--retry-schedule takes seconds/],
    [['--outbox', '/tmp/x', '--retry-schedule', '-1'], /--retry-schedule takes seconds/],
    [['--outbox', '/tmp/x', '--config', '/nowhere.json'], /--config \/nowhere.json cannot be read/],
    [['--outbox', '/tmp/x', '--nonsense'], /unknown option/],
  ])('with %j ends with exit code 2 and one sentence', async (flags, sentence) => {
    const { code, stderr } = await ended('folkmoot-relay', 'run', ...flags)
    expect(code).toBe(2)
    expect(stderr).toMatch(sentence)
    expect(stderr.trim().replace('\n(see folkmoot-relay run --help)', '').split('\n')).toHaveLength(1)
  })
})
