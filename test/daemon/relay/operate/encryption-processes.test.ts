/** The encryption keys of the relay's commands: the variable, the file, and SIGHUP. */
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { openOutbox } from '../../../../adapters/outbox/file.ts'
import { check } from '../../../../daemon/relay/operate/commands/check.ts'
import { status } from '../../../../daemon/relay/operate/commands/inspect.ts'
import { testEndpoint } from '../../../../daemon/relay/operate/commands/test-endpoint.ts'
import { keyRing } from '../../../../lib/outbox/encryption.ts'
import { begunRelay } from '../../../support/begun.ts'
import { temporaryDirectory } from '../../../support/directory.ts'
import { ended } from '../../../support/program.ts'
import { endpoint, event, receiver, until } from '../support.ts'

const [first, second] = [1, 2].map((fill) => Buffer.alloc(32, fill).toString('base64')) as [string, string]
const secret = `whsec_${Buffer.alloc(24, 7).toString('base64')}`

/** Every byte of every file below a directory, as text. */
const everything = (directory: string): string =>
  readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .map((name) => join(directory, name))
    .filter((path) => statSync(path).isFile())
    .map((path) => readFileSync(path, 'latin1'))
    .join('\n')

test('a relay without the right key waits with a sentence, and continues when SIGHUP makes it read its file again', async () => {
  const hook = await receiver()
  const outbox = temporaryDirectory()
  const file = join(temporaryDirectory(), 'encryption-keys')
  const writer = await openOutbox({ directory: outbox })
  const record = await keyRing([first]).seal(endpoint(hook.url, { key: 'plain-key', secrets: [secret] }))
  await writer.append([[record], [event('a')]])
  writeFileSync(file, `${second}\n`)
  const loopback = { outbox, allowHttp: true, allowPrivate: true }

  const alone = await check({ ...loopback, json: true })
  const foreseen = { ok: false, problems: [expect.stringMatching(/^the token of endpoint 7 of network 1 is encrypted with /)] }
  expect(JSON.parse(alone.text)).toMatchObject(foreseen)

  const flags = ['--outbox', outbox, '--allow-http', '--allow-private', '--encryption-key-file', file, '--control-port', '0']
  const relay = begunRelay('run', ...flags)
  await until(() => relay.out.stdout.includes('endpoint.unreadable endpoint 7'), 'it is logged')
  expect(await status({ outbox })).toMatch(/unreadable/)
  const asked = { ...loopback, networkId: '1', endpointId: '7' }
  expect(await testEndpoint(asked, '0.0.0')).toEqual({
    ok: false,
    text: expect.stringMatching(/^not delivered: unreadable \(the token of endpoint 7 .* --encryption-key-file, 0 ms\)\n$/),
  })
  const known = await check({ ...loopback, encryptionKeyFile: file, json: true })
  expect(JSON.parse(known.text)).toMatchObject({ ...foreseen, running: true })

  writeFileSync(file, `${second}\n${first}\n`)
  relay.signal('SIGHUP')
  await until(() => hook.received.length === 1, 'it is delivered')
  expect(hook.received[0]?.headers).toMatchObject({ authorization: 'Bearer plain-key' })
  expect((await testEndpoint(asked, '0.0.0')).ok).toBe(true)

  writeFileSync(file, 'hunter2')
  relay.signal('SIGHUP')
  await until(() => relay.out.stdout.includes('relay.not_reloaded'), 'it stays with what it has')
  expect(relay.out.stdout).toContain(`the encryption key file ${file}: key 1 of 1 must be 32 bytes in base64`)
  await writer.append([[event('b')]])
  await until(() => hook.received.length === 3, 'the next one is delivered')

  await relay.stop()
  for (const value of ['plain-key', secret, first, second, 'hunter2'])
    expect(everything(outbox) + relay.out.stdout + relay.out.stderr).not.toContain(value)

  vi.stubEnv('FOLKMOOT_ENCRYPTION_KEYS', `${second}, ${first}`)
  onTestFinished(() => void vi.unstubAllEnvs())
  for (const command of [['check'], ['endpoints', 'test', '--network-id', '1', '--endpoint-id', '7']])
    expect((await ended('folkmoot-relay', ...command, '--outbox', outbox, '--allow-http', '--allow-private')).code).toBe(0)
  await writer.close()
})

test('a malformed key ends the command with a sentence that does not show it', async () => {
  const outbox = temporaryDirectory()
  const missing = join(outbox, 'nope')
  await expect(check({ outbox, encryptionKeys: `${first},hunter2` })).rejects.toThrow(
    /^FOLKMOOT_ENCRYPTION_KEYS: key 2 of 2 must be 32 bytes in base64, as `openssl rand -base64 32` makes them$/,
  )
  await expect(check({ outbox, encryptionKeyFile: missing })).rejects.toThrow(
    `the encryption key file ${missing} cannot be read (ENOENT)`,
  )
})
