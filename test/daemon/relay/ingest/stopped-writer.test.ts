import { readdirSync } from 'node:fs'
import { expect, test } from 'vitest'
import { startWriter } from '../../../adapters/outbox/writer-process.ts'
import { rounds, soaking } from '../../../support/rounds.ts'
import { bench, endpoint, events, pass, receiver, until } from '../support.ts'

test('a writer that is stopped keeps no one waiting, and continues where it was', { timeout: 240_000 }, async () => {
  const hook = await receiver()
  const all = await bench()
  await all.append(endpoint(hook.url))
  const stopped = startWriter(all.directory, 'stopped')
  await until(() => stopped.ids.length > 20, 'it has written')
  stopped.child.kill('SIGSTOP')
  const before = stopped.ids.length
  // In the soak a whole minute, in which nothing of the others may wait for the one that is stopped.
  for (let round = 0; round < rounds(4, 60); round++) {
    const others = events(`other-${round}-`, 50)
    await all.append(...others)
    await until(() => others.every(({ event_id }) => hook.received.some(({ id }) => id === event_id)), 'the others are delivered')
    await pass(soaking ? 1000 : 100)
  }
  expect(readdirSync(all.directory).filter((name) => name.endsWith('.ndjson')).length).toBeGreaterThanOrEqual(2)
  stopped.child.kill('SIGCONT')
  await until(() => stopped.ids.length > before + 20, 'it goes on')
  stopped.child.kill('SIGKILL')
  await until(
    () => {
      const found = new Set(hook.received.map(({ id }) => id))
      return stopped.ids.every((id) => found.has(id))
    },
    'everything of it is delivered',
    60,
  )
  expect(all.notices.filter(({ kind }) => kind === 'outbox.damaged').length).toBeLessThanOrEqual(1)
})
