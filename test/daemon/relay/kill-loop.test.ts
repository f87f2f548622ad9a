import { expect, test } from 'vitest'
import { openOutbox } from '../../../adapters/outbox/file.ts'
import { writeUntilKilled } from '../../adapters/outbox/writer-process.ts'
import { run } from '../../support/command.ts'
import { temporaryDirectory } from '../../support/directory.ts'
import { rounds as roundsOf } from '../../support/rounds.ts'
import { endpoint, receiver, until } from './support.ts'

const rounds = roundsOf(3, 20)
const maxInFlightPerEndpoint = 8

const between = (least: number, most: number): number => least + Math.floor(Math.random() * (most - least + 1))

test(`a writer and a relay that are killed at random, ${rounds} times each, lose no event and repeat at most what was in flight`, {
  timeout: 60_000 + rounds * 15_000,
}, async () => {
  const directory = temporaryDirectory()
  const hook = await receiver((_, response) => void setTimeout(() => response.writeHead(204).end(), 2))
  const first = await openOutbox({ directory })
  await first.append([[endpoint(hook.url)]])
  await first.close()
  const start = () => run('folkmoot-relay', 'run', '--outbox', directory, '--allow-http', '--allow-private', '--json')
  const acknowledged: string[] = []
  const ledger = (): ReadonlySet<string> => new Set(hook.received.map(({ id }) => id))
  let kills = 0

  for (let round = 0; round < rounds; round++) {
    const relay = start()
    const before = hook.received.length
    let written = false
    const writing = writeUntilKilled(directory, `w${round}`, between(30, 150)).finally(() => {
      written = true
    })
    // Beyond what the last kill left in flight: a delivery that is there at three deaths would rightly be set aside.
    const goal = before + 3 * maxInFlightPerEndpoint + between(0, 100)
    await until(() => hook.received.length >= goal || written, 'some are delivered')
    await until(() => hook.received.length >= before + 3 * maxInFlightPerEndpoint, 'what was in flight before is delivered')
    relay.child.kill('SIGKILL')
    await relay.ended
    kills++
    acknowledged.push(...(await writing))
  }

  const last = start()
  const missing = (): readonly string[] => {
    const seen = ledger()
    return acknowledged.filter((id) => !seen.has(id))
  }
  await until(() => missing().length === 0, 'every acknowledged event is delivered', 60)
  last.child.kill('SIGTERM')
  expect(await last.ended).toBe(0)
  expect(new Set(acknowledged).size).toBe(acknowledged.length)
  expect(hook.received.length - ledger().size).toBeLessThanOrEqual(kills * maxInFlightPerEndpoint)
})
