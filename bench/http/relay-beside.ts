/**
 * A relay beside the API that is measured, with a receiver that takes everything: `relay-beside.ts OUTBOX`. It reports the port
 * of the receiver, and starts when it gets the signal.
 */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import process from 'node:process'
import { startRelay } from '../../daemon/relay/relay.ts'

const [outbox = ''] = process.argv.slice(2)
const receiver = createServer((request, response) => {
  request.resume()
  response.writeHead(204).end()
})
receiver.listen(0, '127.0.0.1', () => process.send?.((receiver.address() as AddressInfo).port))
process.on('message', () => void startRelay({ outbox, settings: { allowHttp: true, allowPrivate: true } }))
process.on('disconnect', () => process.exit(0))
