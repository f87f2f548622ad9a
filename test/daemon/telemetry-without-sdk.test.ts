import { expect, test } from 'vitest'
import { begun, begunRelay } from '../support/begun.ts'
import { temporaryDirectory } from '../support/directory.ts'

const sentence = '--telemetry records nothing, because no OpenTelemetry SDK is registered'

test('both programs say with --telemetry that no SDK is registered', async () => {
  const server = begun('serve', '--storage', 'memory:', '--allow-http', '--port', '0', '--json', '--telemetry')
  await server.firstLine()
  expect(server.out.stderr).toContain(sentence)
  expect(await server.stop()).toBe(0)

  const relay = begunRelay('run', '--outbox', temporaryDirectory(), '--json', '--telemetry')
  const lines = await relay.written('relay.started')
  expect(lines).toContain(`"text":"${sentence}`)
  relay.signal('SIGTERM')
  expect(await relay.ended).toBe(0)
})
