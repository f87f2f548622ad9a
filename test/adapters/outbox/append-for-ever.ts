/** A separate process that appends until it is killed, and prints an id as soon as it is durable: `node x DIRECTORY PREFIX`. */
import { argv } from 'node:process'
import { openOutbox } from '../../../adapters/outbox/file.ts'
import { print } from '../../support/print.ts'
import { event } from './support-events.ts'

const [, , directory = '', prefix = ''] = argv
const outbox = await openOutbox({ directory, rotateBytes: 20_000 })
for (let index = 0; ; index++) {
  const ids = [0, 1, 2].map((each) => `${prefix}-${index}-${each}`)
  await Promise.all(ids.map((id) => outbox.append([[event(id, 'x'.repeat(index % 700))]])))
  await print(ids.map((id) => `${id}\n`).join(''))
}
