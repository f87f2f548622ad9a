/** Client identities of the relay's commands: a bad file ends the start with a sentence, and SIGHUP reads the files again. */
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:https'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openOutbox } from '../../../../adapters/outbox/file.ts'
import { check } from '../../../../daemon/relay/operate/commands/check.ts'
import { status } from '../../../../daemon/relay/operate/commands/inspect.ts'
import { begunRelay } from '../../../support/begun.ts'
import { certificateFor } from '../../../support/certificate.ts'
import { temporaryDirectory } from '../../../support/directory.ts'
import { ended } from '../../../support/program.ts'
import { listening } from '../send/support.ts'
import { endpoint, event, until } from '../support.ts'

test('a relay without a client identity waits with a sentence, and continues when SIGHUP makes it read its files again', async () => {
  const outbox = temporaryDirectory()
  const file = join(temporaryDirectory(), 'identities.json')
  const { certFile, cert, key } = certificateFor('localhost', { extensions: 'basicConstraints=CA:TRUE' }, temporaryDirectory())
  let received = 0
  const hook = createServer({ cert, key }, (request, response) => {
    received++
    request.resume().on('end', () => response.writeHead(204).end())
  })
  const url = `https://localhost:${await listening(hook)}/`
  const writer = await openOutbox({ directory: outbox })
  const named = endpoint(url, { client_identity: 'bank', ca: 'bank', requires: ['client_identity', 'ca'] })
  await writer.append([[named], [event('a')]])

  writeFileSync(file, '{"identities":{"bank":{"cert":"nowhere.pem","key":"nowhere.key"}}}')
  const flags = ['--outbox', outbox, '--allow-http', '--allow-private', '--client-identities', file]
  const refused = await ended('folkmoot-relay', 'check', ...flags)
  expect(refused.code).toBe(2)
  expect(refused.stderr).toContain('identity `bank`: ')
  expect(refused.stderr).toContain('nowhere.pem cannot be read (ENOENT)')

  writeFileSync(file, '{}')
  const foreseen = await check({ outbox, allowHttp: true, allowPrivate: true, clientIdentities: file, json: true })
  expect(JSON.parse(foreseen.text).problems).toEqual([expect.stringContaining('it needs the client identity `bank`')])

  const relay = begunRelay('run', ...flags, '--control-port', '0')
  await until(() => relay.out.stdout.includes('endpoint.unreadable endpoint 7'), 'it is logged')
  expect(await status({ outbox })).toMatch(/set aside/)
  const tested = await ended('folkmoot-relay', 'endpoints', 'test', '--outbox', outbox, '--endpoint-id', '7')
  expect(tested.stdout).toMatch(/^not delivered: unreadable \(it needs the client identity `bank`/)

  writeFileSync(file, '{')
  relay.signal('SIGHUP')
  await until(() => relay.out.stdout.includes('relay.not_reloaded'), 'it stays with what it has')
  const bank = { cert: certFile, key: certFile.replace('cert.pem', 'key.pem') }
  writeFileSync(file, JSON.stringify({ identities: { bank }, cas: { bank: certFile } }))
  relay.signal('SIGHUP')
  await until(() => received === 1, 'it is delivered')
  await until(() => relay.out.stdout.includes('endpoint.readable'), 'it is told')
  await relay.stop()
  await writer.close()
})
