import fc from 'fast-check'
import { describe, expect, onTestFinished, test } from 'vitest'
import { attemptTimeout, coversAttempt, shortestLease } from '../../../../daemon/relay/attempt-timeout.ts'
import { systemClock } from '../../../../daemon/relay/clock.ts'
import { createSender } from '../../../../daemon/relay/send/sender.ts'
import { checkSettings, defaultSettings, SettingsError } from '../../../../daemon/relay/settings.ts'
import { onLoopback } from '../../../support/on-loopback.ts'
import { receiver, until } from '../support.ts'
import { openEndpoint } from './support.ts'

const settings = { ...defaultSettings, allowHttp: true, allowPrivate: true }

function senderOf() {
  const sender = createSender(
    () => settings,
    systemClock,
    async () => [{ address: '127.0.0.1', family: 4 }],
    'test',
  )
  onTestFinished(() => sender.close())
  const send = (url: string, seconds: number, old_keys: readonly { value: string; until: string }[] = []) =>
    sender.send({
      endpoint: openEndpoint(url, { old_keys }),
      event_id: 'a',
      body: Buffer.from('{}'),
      timeout: attemptTimeout({ timeout: seconds, lease: shortestLease(seconds) }, { id: '1' }),
    })
  return { sender, send }
}

describe('an attempt', () => {
  test('that was stopped differs from one that took too long, and has the reason of its stop', async () => {
    const hook = await receiver(() => undefined)
    const { sender, send } = senderOf()
    expect(await send(hook.url, 0.2)).toMatchObject({ result: 'timeout', reason: 'no response in time', status: null })
    for (const reason of ['shutting down', 'the lease was lost']) {
      const before = hook.received.length
      const running = send(hook.url, 60)
      await until(() => hook.received.length > before, 'it is in flight')
      sender.abort(reason)
      expect(await running).toMatchObject({ result: 'aborted', reason, status: null })
    }
    hook.respond = (_, response) => void response.writeHead(204).end()
    expect(await send(hook.url, 60)).toMatchObject({ result: 'delivered' })
  })

  test('that is stopped while it waits for a connection is not sent later', async () => {
    const names = Promise.withResolvers<readonly { address: string; family: number }[]>()
    const hook = await receiver()
    const sender = createSender(
      () => settings,
      systemClock,
      () => names.promise,
      'test',
    )
    onTestFinished(() => sender.close())
    const url = hook.url.replace('127.0.0.1', 'hook.example')
    const timeout = attemptTimeout(settings, { id: '1' })
    const attempt = { endpoint: openEndpoint(url), body: Buffer.from('{}'), timeout }
    const running = sender.send({ ...attempt, event_id: 'a' })
    sender.abort('shutting down')
    expect(await running).toMatchObject({ result: 'aborted' })
    names.resolve([{ address: '127.0.0.1', family: 4 }])
    expect(await sender.send({ ...attempt, event_id: 'b' })).toMatchObject({ result: 'delivered' })
    expect(hook.received).toHaveLength(1)
  })

  test('has one time-out for all the keys that it tries', async () => {
    const hook = await receiver(({ headers }, response) => {
      if (headers.authorization === 'Bearer key') response.writeHead(401).end()
    })
    const { send } = senderOf()
    const old = [{ value: 'old', until: '2999-01-01T00:00:00.000Z' }]
    expect(await send(hook.url, 0.5, [...old, ...old])).toMatchObject({ result: 'timeout', status: null })
    expect(hook.received).toHaveLength(2)
  })

  test('leaves nothing behind that waits for its time-out, over thousands', async () => {
    const warnings: Error[] = []
    const warned = (warning: Error): void => void warnings.push(warning)
    process.on('warning', warned)
    onTestFinished(() => void process.off('warning', warned))
    const origin = await onLoopback((request, response) => {
      request.resume()
      response.writeHead(204).end()
    })
    const url = `${origin}/`
    const { send } = senderOf()
    const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length
    const before = timers()
    let left = 3000
    const results = new Set<string>()
    const work = async (): Promise<void> => {
      while (left-- > 0) results.add((await send(url, 300)).result)
    }
    await Promise.all(Array.from({ length: 32 }, work))
    expect([...results]).toEqual(['delivered'])
    // Connections that are kept have timers, too.
    expect(timers() - before).toBeLessThan(100)
    expect(warnings).toEqual([])
  })
})

describe('a time-out and a lease', () => {
  test('that can be set together let every attempt begin that is recorded within half a second', () => {
    const seconds = (most: number) => fc.double({ min: 0.01, max: most, noNaN: true })
    fc.assert(
      fc.property(seconds(300), fc.option(seconds(3600), { nil: undefined }), (timeout, lease) => {
        try {
          const checked = checkSettings({ timeout, lease })
          expect(coversAttempt(checked.lease * 1000 - 500, attemptTimeout(checked, { id: '1' }))).toBe(true)
        } catch (error) {
          if (!(error instanceof SettingsError)) throw error
          expect(lease).toBeLessThan(Math.max(0.5, shortestLease(timeout)))
        }
      }),
    )
  })

  test.each([
    [10, 19, 20],
    [0.1, 1, 1.1],
  ])('of %d s and %d s are refused: the lease must have %d s', (timeout, lease, least) => {
    expect(() => checkSettings({ timeout, lease })).toThrow(
      `setting \`lease\` must be at least ${least}: twice \`timeout\`, and a second more than it`,
    )
    expect(() => attemptTimeout({ timeout, lease }, { id: '1' })).toThrow(
      `a time-out of ${timeout} s needs a lease of ${least} s`,
    )
  })
})
