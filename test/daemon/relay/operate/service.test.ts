import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { env } from 'node:process'
import { expect, onTestFinished, test, vi } from 'vitest'
import { openOutbox } from '../../../../adapters/outbox/file.ts'
import { createNotifier } from '../../../../daemon/relay/operate/systemd.ts'
import { run } from '../../../support/command.ts'
import { temporaryDirectory } from '../../../support/directory.ts'
import { endpoint, event, receiver, until } from '../support.ts'
import { virtualClock } from '../virtual-clock.ts'

function setEnvironment(values: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(values)) vi.stubEnv(name, value)
  onTestFinished(() => void vi.unstubAllEnvs())
}

/** A `systemd-notify` that writes down what it is told. */
function serviceManager() {
  const directory = temporaryDirectory()
  const told = join(directory, 'told')
  writeFileSync(join(directory, 'systemd-notify'), `#!/bin/sh\necho "$@" >> '${told}'\n`)
  chmodSync(join(directory, 'systemd-notify'), 0o755)
  setEnvironment({ PATH: `${directory}${delimiter}${env['PATH'] ?? ''}` })
  return () => (existsSync(told) ? readFileSync(told, 'utf8').trimEnd().split('\n') : [])
}

test('systemd is notified when the relay is ready, alive and stopping', async () => {
  const told = serviceManager()
  setEnvironment({ NOTIFY_SOCKET: '/run/nowhere', WATCHDOG_USEC: '200000' })
  const relay = run('folkmoot-relay', 'run', '--outbox', temporaryDirectory(), '--json')
  await until(() => told().filter((line) => line === 'WATCHDOG=1').length >= 2, 'signs of life come')
  expect(told()[0]).toBe('--ready --status=delivering')
  relay.child.kill('SIGTERM')
  expect(await relay.ended).toBe(0)
  await until(() => told().includes('STOPPING=1 --status=draining'), 'that it stops is told')
})

test('a scheduler that stands still sends no watchdog signal, so that the service is restarted', async () => {
  const told = serviceManager()
  const clock = virtualClock()
  let alive = true
  const notifier = createNotifier({ socket: '/run/nowhere', watchdog: 60_000_000 }, clock, () => alive)
  notifier.ready()
  clock.advance(30_000)
  await until(() => told().includes('WATCHDOG=1'), 'a sign of life comes')
  alive = false
  clock.advance(300_000)
  alive = true
  clock.advance(30_000)
  await until(() => told().filter((line) => line === 'WATCHDOG=1').length === 2, 'the next one comes when it moves again')
  notifier.close()
})

test('nothing is sent where there is no service manager', async () => {
  const told = serviceManager()
  const notifier = createNotifier({ socket: undefined, watchdog: undefined }, virtualClock(), () => true)
  notifier.ready()
  notifier.reloading()
  notifier.stopping()
  notifier.close()
  expect(told()).toEqual([])
})

test('the proxy that the environment names is not asked: it would undo the guard', async () => {
  const [hook, proxy] = await Promise.all([receiver(), receiver()])
  const origin = new URL(proxy.url).origin
  const names = ['HTTP_PROXY', 'http_proxy', 'HTTPS_PROXY', 'https_proxy', 'ALL_PROXY', 'all_proxy']
  setEnvironment({
    ...Object.fromEntries(names.map((name) => [name, origin])),
    NODE_USE_ENV_PROXY: '1',
    NO_PROXY: '',
    no_proxy: '',
  })
  const directory = temporaryDirectory()
  const outbox = await openOutbox({ directory })
  await outbox.append([[endpoint(hook.url)], [event('a')]])
  run('folkmoot-relay', 'run', '--outbox', directory, '--allow-http', '--allow-private', '--json')
  await until(() => hook.received.length === 1, 'it is delivered')
  expect(proxy.received).toEqual([])
  await outbox.close()
})
