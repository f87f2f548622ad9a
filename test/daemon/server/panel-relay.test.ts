/** The panel of `folkmoot serve` beside a relay in another process: over its control port, and over the database. */
import { hostname } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { notedSettings } from '../../../daemon/relay/operate/settings/settings-note.ts'
import { startRelay } from '../../../daemon/relay/relay.ts'
import { serve } from '../../../daemon/server/serve/serve.ts'
import { run } from '../../support/command.ts'
import { temporaryDirectory } from '../../support/directory.ts'
import { postgresAddress, uniqueName } from '../../support/postgres.ts'
import { receiver, until } from '../relay/support.ts'

type Flags = Parameters<typeof serve>[0]

/** A server with the demo network, and a browser that is signed in to its panel. */
async function panelOf(flags: Partial<Flags> & Pick<Flags, 'storage'>) {
  const lines: string[] = []
  const out = { line: (text: string) => void lines.push(text), warn: () => {} }
  const lists = { webhookUrl: [], webhookToken: [], webhookTokenFile: [], fault: [] }
  const running = await serve({ demo: true, allowHttp: true, json: true, port: 0, host: '127.0.0.1', ...lists, ...flags }, out)
  onTestFinished(() => running.close())
  const { url, panel } = JSON.parse(lines[0] ?? '')
  const entered = await fetch(panel, { redirect: 'manual' })
  const cookie = (entered.headers.get('set-cookie') ?? '').split(';')[0] ?? ''
  const ask = async (path: string, init: RequestInit = {}) => {
    const headers = { cookie, 'sec-fetch-site': 'same-origin' }
    const response = await fetch(`${url}/admin/panel/1/${path}`, { headers, ...init })
    return { status: response.status, text: await response.text() }
  }
  return { ask, post: (path: string) => ask(path, { method: 'POST' }) }
}

const away = 'The relay does not respond now'

test('the panel shows a separate relay, shows that it is away, and finds it again', async () => {
  const hook = await receiver()
  const directory = temporaryDirectory()
  const outbox = join(directory, 'outbox')
  const relay = (port: string) =>
    run('folkmoot-relay', 'run', '--outbox', outbox, '--allow-http', '--allow-private', '--control-port', port)
  const first = relay('0')
  const noted = () => notedSettings(outbox, [{ host: hostname(), pid: first.child.pid ?? 0 }])?.controlPort
  await until(() => noted() !== undefined, 'the relay has a control port')
  const port = noted() ?? 0
  const { ask, post } = await panelOf({
    ...{ storage: 'memory:', outbox, relayControl: `http://127.0.0.1:${port}` },
    ...{ webhookUrl: [hook.url], webhookToken: ['the-key'] },
  })
  const [, endpoint = ''] = /webhooks\/(\d+)/.exec((await ask('webhooks')).text) ?? []
  await until(async () => (await ask(`webhooks/${endpoint}`)).text.includes('Delivering'), 'the panel shows the relay')
  const tested = await post(`webhooks/${endpoint}/test`)
  expect([tested.status, tested.text.includes('The endpoint accepted the event')]).toEqual([200, true])

  first.child.kill('SIGTERM')
  await first.ended
  for (const path of ['webhooks', `webhooks/${endpoint}`, 'deliveries', 'overview']) {
    const { status, text } = await ask(path)
    expect([path, status, text.includes(away)]).toEqual([path, 200, true])
  }
  expect((await ask('webhooks')).text).toContain(`webhooks/${endpoint}`)
  expect((await ask('keys')).status).toBe(200)

  relay(String(port))
  await until(async () => (await ask(`webhooks/${endpoint}`)).text.includes('Delivering'), 'the panel finds the relay again')
})

test('on PostgreSQL the panel shows relays by their database, and no relay is asked', async () => {
  const hook = await receiver()
  const storage = `${await postgresAddress()}?schema=${uniqueName('panel_relay')}`
  const { ask, post } = await panelOf({ storage, webhookUrl: [hook.url], webhookToken: ['the-key'] })
  const [, endpoint = ''] = /webhooks\/(\d+)/.exec((await ask('webhooks')).text) ?? []
  expect((await ask('webhooks')).text).toContain(away)
  const start = () => startRelay({ outbox: storage, settings: { allowHttp: true, allowPrivate: true } })
  const relay = await start()
  await until(async () => (await ask(`webhooks/${endpoint}`)).text.includes('Delivering'), 'the panel shows the relay')
  expect((await post(`webhooks/${endpoint}/test`)).text).toContain('The endpoint accepted the event')
  await relay.close(0)
  expect((await ask('overview')).text).toContain('No relay runs now')
  const refused = await post(`webhooks/${endpoint}/test`)
  expect([refused.status, refused.text.includes('no test event can be sent')]).toEqual([409, true])
})

test.each([
  [{ relay: true, relayControl: 'http://127.0.0.1:1' }, '--relay runs the relay in this process'],
  [{ relayControlTokenFile: 'control.token' }, '--relay-control-token-file goes with --relay-control'],
  [{ relayControl: 'port 9464' }, '--relay-control must be an address such as http://127.0.0.1:9464, got "port 9464"'],
])('serve with %j is refused: %s', async (flags, problem) => {
  await expect(panelOf({ storage: `sqlite:${join(temporaryDirectory(), 'db.sqlite')}`, ...flags })).rejects.toThrow(problem)
})
