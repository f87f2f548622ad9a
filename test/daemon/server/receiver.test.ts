/** The receiver of the demo. */
import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { type Received, startReceiver } from '../../../daemon/server/http/receiver.ts'

test('a delivery that breaks off leaves the receiver running', async () => {
  const received: Received[] = []
  const { url, close } = await startReceiver('key', (delivery) => void received.push(delivery))
  onTestFinished(close)
  const unhandled: unknown[] = []
  const keep = (error: unknown) => void unhandled.push(error)
  process.on('unhandledRejection', keep)
  onTestFinished(() => void process.off('unhandledRejection', keep))

  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  socket.write('POST /webhooks HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer key\r\nContent-Length: 10\r\n\r\nabc')
  await pause(100)
  socket.destroy()
  await once(socket, 'close')
  await pause(100)
  expect(unhandled).toEqual([])

  const body = JSON.stringify({ event_id: 'e1', event_type: 'PostCreatedHook' })
  const response = await fetch(url, { method: 'POST', headers: { authorization: 'Bearer key' }, body })
  expect([response.status, received.map(({ event_id }) => event_id)]).toEqual([204, ['e1']])
})
