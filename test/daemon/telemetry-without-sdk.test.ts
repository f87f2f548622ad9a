/** In processes of their own: another test of this process may have registered an SDK. */
import { expect, test } from 'vitest'
import { run } from '../support/command.ts'
import { temporaryDirectory } from '../support/directory.ts'

const sentence = '--telemetry records nothing, because no OpenTelemetry SDK is registered'

test('both programs say with --telemetry that no SDK is registered', async () => {
  const server = run('folkmoot', 'serve', '--storage', 'memory:', '--allow-http', '--port', '0', '--json', '--telemetry')
  await server.written('\n')
  server.child.kill('SIGTERM')
  expect(await server.ended).toBe(0)
  expect(server.out.stderr).toContain(sentence)

  const relay = run('folkmoot-relay', 'run', '--outbox', temporaryDirectory(), '--json', '--telemetry')
  await relay.written('relay.started')
  relay.child.kill('SIGTERM')
  expect(await relay.ended).toBe(0)
  expect(relay.out.stdout).toContain(`"text":"${sentence}`)
})
