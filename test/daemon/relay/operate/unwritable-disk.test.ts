import { spawnSync } from 'node:child_process'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { type Relay, startRelay } from '../../../../daemon/relay/relay.ts'
import { noSmallDisk, smallDisk } from '../../../support/small-disk.ts'
import { until } from '../support.ts'

const mount = (...args: readonly string[]) => expect(spawnSync('mount', args).status).toBe(0)

/** A relay that is ready and has nothing to do, with the faults that it reports. */
async function relayOn(disk: string): Promise<{ relay: Relay; faults: unknown[] }> {
  const faults: unknown[] = []
  const relay = await startRelay({ outbox: join(disk, 'outbox'), onFault: (_, error) => faults.push(error) })
  onTestFinished(() => relay.close())
  await until(() => relay.ready, 'it is ready')
  return { relay, faults }
}

test('a relay with nothing to do is not ready while its disk is read-only, and is ready again afterwards', async ({ skip }) => {
  const disk = smallDisk('4m')
  if (!disk) return skip(noSmallDisk)
  const { relay, faults } = await relayOn(disk)

  // The same disk again, above itself: open files forbid to remount it.
  mount('--bind', disk, disk)
  onTestFinished(() => void spawnSync('umount', ['-l', disk]))
  mount('-o', 'remount,bind,ro', disk)
  await until(() => !relay.ready, 'it is not ready')
  expect(faults[0]).toMatchObject({
    code: 'unavailable',
    message: expect.stringMatching(
      /relay\.sqlite: EROFS: .*\. Look for its faults in the log of the system, and mount it for writing$/,
    ),
  })

  expect(spawnSync('umount', ['-l', disk]).status).toBe(0)
  await until(() => relay.ready, 'it is ready again')
})

test('a relay with nothing to do is not ready while its disk is full, and is ready again afterwards', async ({ skip }) => {
  const disk = smallDisk('4m')
  if (!disk) return skip(noSmallDisk)
  const { relay, faults } = await relayOn(disk)

  const filling = join(disk, 'filling')
  expect(() => writeFileSync(filling, Buffer.alloc(4 * 1024 * 1024))).toThrow('ENOSPC')
  const isNamed = () => faults.some((fault) => /relay\.sqlite: its disk is full: make space$/.test(String(fault)))
  await until(isNamed, 'the disk is named')
  expect(relay.ready).toBe(false)

  rmSync(filling)
  await until(() => relay.ready, 'it is ready again')
})
