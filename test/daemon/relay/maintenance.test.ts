import { expect, onTestFinished, test, vi } from 'vitest'
import { safely } from '../../../daemon/relay/events.ts'
import { startMaintenance } from '../../../daemon/relay/maintenance.ts'
import { bench, endpoint, event, receiver, until } from './support.ts'
import { virtualClock } from './virtual-clock.ts'

test('a relay that stood still over its hourly maintenance does it at the next chance', async () => {
  const hook = await receiver()
  const { relay, append, attempts, faults } = await bench()
  await append(endpoint(hook.url), event('old'))
  await until(() => attempts.length === 1, 'it is delivered')
  const stored = async () => (await relay.store.purge({ delivered: 0, dead: 0, now: 0 })) === 0
  expect(await stored()).toBe(true)

  vi.useFakeTimers({ toFake: ['Date', 'setTimeout', 'clearTimeout'], now: Date.UTC(2026, 10, 20, 10, 14) })
  onTestFinished(() => void vi.useRealTimers())
  const warned = vi.spyOn(console, 'warn')
  onTestFinished(() => warned.mockRestore())
  const purged = vi.spyOn(relay.store, 'purge')
  const { store, scheduler, settings } = relay
  const clock = virtualClock()
  const maintenance = startMaintenance({
    ...{ store, scheduler, clock, timeline: () => relay.now() + 90 * 86_400_000, settings: () => settings },
    events: safely({ onFault: (what, error) => faults.push([what, error]) }),
    openOperator: () => Promise.reject(new Error('nobody asks for sums')),
  })
  onTestFinished(() => maintenance.stop())
  // The clock jumps, and no timer fires meanwhile.
  vi.setSystemTime(Date.UTC(2026, 10, 20, 11, 44))
  await vi.advanceTimersByTimeAsync(60_000)
  expect(purged).toHaveBeenCalled()
  await maintenance.purge()
  expect([warned.mock.calls, faults]).toEqual([[], []])
})
