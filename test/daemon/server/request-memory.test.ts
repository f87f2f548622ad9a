import { request } from 'node:http'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import process from 'node:process'
import { expect, onTestFinished, test, vi } from 'vitest'
import { inFlightBytesFor } from '../../../daemon/server/serve/request-memory.ts'
import { begun } from '../../support/begun.ts'
import { temporaryDirectory } from '../../support/directory.ts'

const mebibytes = 1024 * 1024

test.each([
  [16 * 1024, 256],
  [1024, 256],
  [512, 128],
  [256, 64],
  // Room for one upload and its form.
  [64, 26],
])('of %d MiB a server lets requests take %d', (memory, inFlight) => {
  expect(inFlightBytesFor(memory * mebibytes)).toBe(inFlight * mebibytes)
})

test('in a container of 256 MiB a network uploads one large file at a time', async () => {
  const constrained = vi.spyOn(process, 'constrainedMemory').mockReturnValue(256 * mebibytes)
  syncBuiltinESMExports()
  onTestFinished(() => {
    constrained.mockRestore()
    syncBuiltinESMExports()
  })
  const directory = temporaryDirectory()
  const where = ['--storage', `sqlite:${join(directory, 'db.sqlite')}`, '--assets', join(directory, 'assets')]
  const { url, token } = JSON.parse(await begun('serve', '--demo', '--allow-http', '--json', '--port', '0', ...where).firstLine())
  const assets = `${url}/admin/v1/networks/demo/assets`
  const headers = { authorization: `Bearer ${token}` }

  const first = request(assets, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'multipart/form-data; boundary=x', 'content-length': 25 * mebibytes },
  }).on('error', () => undefined)
  onTestFinished(() => void first.destroy())
  await new Promise((written) => first.write(Buffer.alloc(20 * mebibytes), written))

  const form = new FormData()
  form.set('asset_style', 'cover')
  form.set('asset_file', new Blob([new Uint8Array(20 * mebibytes)]), 'second.bin')
  const second = await fetch(assets, { method: 'POST', headers, body: form })
  expect([second.status, await second.json()]).toEqual([
    503,
    { error: 'This network has too many bytes in flight. Read the pending responses, then try again' },
  ])
})
