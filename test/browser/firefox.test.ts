/** The library, the client and the receiver in Firefox, whose `Request` has no `body`. */
import { symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import process from 'node:process'
import { rolldown } from 'rolldown'
import { expect, test } from 'vitest'
import { temporaryDirectory } from '../support/directory.ts'
import { shared } from '../support/shared.ts'
import { isFirefoxInstalled, runInFirefox } from './firefox.ts'

const script = `
import { createCommunity } from 'folkmoot'
import { createClient } from 'folkmoot/client'
import { receive, sign } from 'folkmoot/receiver'
import { memoryStorage } from 'folkmoot/storage/memory'

async function run() {
  const files = []
  const assets = {
    put: async (bytes) => {
      files.push(bytes.length)
      return 'https://files.example/' + files.length
    },
    remove: async () => {},
  }
  const community = createCommunity({ storage: memoryStorage(), ports: { assets, fileTypes: { sniff: async () => ({ content_type: 'application/octet-stream', extension: 'bin' }) } } })
  const owner = { email: 'ada@example.org', first_name: 'Ada', last_name: 'Ash' }
  const { network } = await community.networks.create({ subdomain: 'paint-pals', title: 'Paint Pals', owner })
  const { token } = await community.keys.create({ network: network.id, name: 'Page', scopes: ['*'] })
  const url = 'https://community.example/admin/v1/networks/paint-pals'
  const send = async (path, body, more) => {
    const headers = { authorization: 'Bearer ' + token, ...more }
    const response = await community.fetch(new Request(url + path, { method: 'POST', headers, body }))
    return [response.status, await response.json()]
  }
  const json = { 'content-type': 'application/json' }
  const form = new FormData()
  form.set('asset_style', 'file')
  form.set('asset_file', new File([new Uint8Array(100_000)], 'whole.bin'))

  const client = createClient({ baseUrl: 'https://community.example', network: 'paint-pals', token, fetch: (request) => community.fetch(request) })
  const stream = new Blob([new Uint8Array(200_000)]).stream()

  const webhook = { token: 'my-webhook-token', secrets: false }
  const event = JSON.stringify({ event_id: '1', event_type: 'PostCreatedHook', event_timestamp: new Date(), payload: { id: '2' } })
  const delivery = new Request('https://receiver.example/', { method: 'POST', headers: await sign(event, webhook), body: event })
  return {
    hasBody: 'body' in Request.prototype,
    created: await send('/members', JSON.stringify({ email: 'bo@example.org', first_name: 'Bo', last_name: 'Birch', member_type: 'full' }), json),
    refused: await send('/members', ' '.repeat(2_000_000), json),
    uploaded: (await send('/assets', form))[0],
    streamed: (await client.assets.create({ asset_style: 'file', asset_file: { stream, name: 'streamed.bin' } })).name,
    files,
    tag: (await client.tags.create({ title: 'Café' })).title,
    received: (await receive(delivery, webhook)).event.event_id,
  }
}
export default run()
`

if (!isFirefoxInstalled) process.stderr.write('Firefox is not installed: nothing is tried in it\n')

test.skipIf(!isFirefoxInstalled)('requests with bodies, uploads and webhooks are read in Firefox', async () => {
  const directory = temporaryDirectory()
  await symlink(join(await shared('package'), 'node_modules'), join(directory, 'node_modules'))
  await writeFile(join(directory, 'page.js'), script)
  const build = await rolldown({ cwd: directory, input: 'page.js', platform: 'browser' })
  const { output } = await build.generate({ format: 'esm' })
  await build.close()
  const [{ code }] = output
  expect(await runInFirefox(code, temporaryDirectory())).toMatchObject({
    hasBody: false,
    created: [201, { email: 'bo@example.org', first_name: 'Bo' }],
    refused: [413, {}],
    uploaded: 201,
    streamed: 'streamed.bin',
    files: [100_000, 200_000],
    tag: 'Café',
    received: '1',
  })
})
