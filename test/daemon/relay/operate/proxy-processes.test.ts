/** The proxy and the source address of the relay's commands: the variable, the file, SIGHUP, and no password anywhere. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { openOutbox } from '../../../../adapters/outbox/file.ts'
import { status } from '../../../../daemon/relay/operate/commands/inspect.ts'
import { begunRelay } from '../../../support/begun.ts'
import { connectProxy } from '../../../support/connect-proxy.ts'
import { temporaryDirectory } from '../../../support/directory.ts'
import { ended } from '../../../support/program.ts'
import { endpoint, event, receiver, until } from '../support.ts'

test('a relay with a wrong password for its proxy waits, shows it nowhere, and continues after a reload of the right one', async () => {
  const hook = await receiver()
  const outbox = temporaryDirectory()
  const config = join(temporaryDirectory(), 'relay.json')
  const writer = await openOutbox({ directory: outbox })
  const proxy = await connectProxy({ credentials: 'relay:right-password' })
  await writer.append([[endpoint(hook.url)], [event('a')]])
  writeFileSync(config, JSON.stringify({ proxy: proxy.url.replace('right', 'wrong') }))
  const flags = ['--outbox', outbox, '--config', config, '--allow-http', '--allow-private', '--json', '--control-port', '0']
  const relay = begunRelay('run', ...flags)
  await until(() => relay.out.stdout.includes('proxy.failed'), 'the failure is logged')
  const port = /"control":(\d+)/.exec(relay.out.stdout)?.[1]
  const metrics = async () => (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
  expect(await metrics()).toContain('relay_proxy_up 0')
  const shown = [await status({ outbox }), await metrics()]
  writeFileSync(config, JSON.stringify({ proxy: proxy.url }))
  relay.signal('SIGHUP')
  await until(() => hook.received.length === 1, 'it is delivered')
  const after = await metrics()
  expect(after).toContain('relay_proxy_up 1')
  writeFileSync(config, JSON.stringify({ proxy: 'http://relay:third-password@' }))
  relay.signal('SIGHUP')
  await until(() => relay.out.stdout.includes('relay.not_reloaded'), 'a wrong one is refused')
  expect(relay.out.stdout).toContain('setting `proxy` must be an http or https address without a path')
  await relay.stop()
  expect(relay.out.stdout).toContain(`"proxy":"http://127.0.0.1:${proxy.port}"`)
  expect([...shown, after, relay.out.stdout, relay.out.stderr].join('\n')).not.toMatch(/(?:right|wrong|third)-password/)
  await writer.close()
})

test('the variable gives the proxy of commands, and a wrong address of the machine is a sentence', async () => {
  const hook = await receiver()
  const outbox = temporaryDirectory()
  const writer = await openOutbox({ directory: outbox })
  await writer.append([[endpoint(hook.url)]])
  await writer.close()
  const proxy = await connectProxy({ credentials: 'relay:secret' })
  const relay = begunRelay('run', '--outbox', outbox, '--allow-http', '--allow-private')
  await until(() => relay.out.stdout.includes('relay.started'), 'it is started')
  await until(async () => (await status({ outbox })).includes('127.0.0.1'), 'the endpoint is ingested')
  await relay.stop()
  vi.stubEnv('FOLKMOOT_PROXY', proxy.url)
  onTestFinished(() => void vi.unstubAllEnvs())
  const test = ['endpoints', 'test', '--outbox', outbox, '--allow-http', '--allow-private', '--endpoint-id', '7']
  expect(await ended('folkmoot-relay', ...test)).toMatchObject({ code: 0 })
  expect(proxy.connected).toEqual([`127.0.0.1:${hook.port}`])
  vi.stubEnv('NO_PROXY', '127.0.0.0/8')
  await ended('folkmoot-relay', ...test)
  expect(proxy.connected).toHaveLength(2)
  expect(await ended('folkmoot-relay', ...test, '--use-no-proxy')).toMatchObject({ code: 0 })
  expect([proxy.connected.length, hook.received.length]).toEqual([2, 3])
  const wrong = await ended('folkmoot-relay', ...test, '--source-address', '192.0.2.1')
  expect(wrong.code).toBe(2)
  expect(wrong.stderr).toContain('setting `sourceAddress` is not an address of this machine (EADDRNOTAVAIL)')
  vi.stubEnv('FOLKMOOT_PROXY', 'socks5://relay:secret@127.0.0.1')
  const socks = await ended('folkmoot-relay', ...test)
  expect(socks.code).toBe(2)
  expect(socks.stderr).toMatch(/setting `proxy` must be an http or https address .*\(set by FOLKMOOT_PROXY\)/)
  expect(wrong.stderr + socks.stderr).not.toContain('secret')
})
