/** The clock and the timers are the test's: the process stands still when the clock jumps while no timer fires. */
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { doRegularly } from '../../../daemon/relay/regular-work.ts'

const minute = 60_000
const at = (iso: string): number => Date.parse(iso)

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date', 'setTimeout', 'clearTimeout'], now: at('2026-11-20T10:14:00Z') })
  onTestFinished(() => void vi.useRealTimers())
})

/** Regular work that notes when it was done. */
function noted(when: string, work: () => void | Promise<void> = () => undefined) {
  const times: string[] = []
  const faults: unknown[] = []
  const end = doRegularly(
    when,
    () => {
      times.push(new Date().toISOString())
      return work()
    },
    (error) => faults.push(error),
  )
  onTestFinished(end)
  return { times, faults, end }
}

/** What anything writes to the streams of the process. */
function writes(): string[] {
  const lines: string[] = []
  for (const stream of [process.stdout, process.stderr]) {
    const spy = vi.spyOn(stream, 'write').mockImplementation((text) => lines.push(String(text)) > 0)
    onTestFinished(() => spy.mockRestore())
  }
  for (const name of ['info', 'warn', 'error', 'debug', 'log'] as const) {
    const spy = vi.spyOn(console, name).mockImplementation((...given) => void lines.push(given.join(' ')))
    onTestFinished(() => spy.mockRestore())
  }
  return lines
}

describe('regular work', () => {
  test('is done at its minutes', async () => {
    const { times } = noted('13 * * * *')
    await vi.advanceTimersByTimeAsync(180 * minute)
    expect(times).toEqual(['2026-11-20T11:13:00.000Z', '2026-11-20T12:13:00.000Z', '2026-11-20T13:13:00.000Z'])
  })

  test('is made up once when the process stood still for hours, without a word', async () => {
    const lines = writes()
    const { times } = noted('13 * * * *')
    vi.setSystemTime(at('2026-11-20T13:30:00Z'))
    await vi.advanceTimersByTimeAsync(minute)
    expect(times).toEqual(['2026-11-20T13:31:00.000Z'])
    await vi.advanceTimersByTimeAsync(60 * minute)
    expect(times).toEqual(['2026-11-20T13:31:00.000Z', '2026-11-20T14:13:00.000Z'])
    expect(lines).toEqual([])
  })

  test('is done every hour of the night in which the clocks go back', async () => {
    const zone = process.env['TZ']
    onTestFinished(() => {
      if (zone === undefined) delete process.env['TZ']
      else process.env['TZ'] = zone
    })
    process.env['TZ'] = 'America/New_York'
    vi.setSystemTime(at('2026-11-01T03:00:00Z'))
    const { times } = noted('13 * * * *')
    await vi.advanceTimersByTimeAsync(6 * 60 * minute)
    expect(times.map((time) => time.slice(11, 16))).toEqual(['03:13', '04:13', '05:13', '06:13', '07:13', '08:13'])
  })

  test('continues after the clock was set back', async () => {
    const { times } = noted('*/10 * * * *')
    vi.setSystemTime(at('2026-11-19T10:14:00Z'))
    await vi.advanceTimersByTimeAsync(8 * minute)
    expect(times).toEqual(['2026-11-19T10:20:00.000Z'])
  })

  test('that has ended is not done again', async () => {
    const { times, end } = noted('*/10 * * * *')
    await vi.advanceTimersByTimeAsync(10 * minute)
    end()
    await vi.advanceTimersByTimeAsync(20 * minute)
    expect(times).toHaveLength(1)
  })

  test('that fails is reported, and done again', async () => {
    const lines = writes()
    const { times, faults } = noted('*/10 * * * *', () => {
      throw new Error('no')
    })
    await vi.advanceTimersByTimeAsync(20 * minute)
    expect([times.length, faults]).toEqual([2, [new Error('no'), new Error('no')]])
    expect(lines).toEqual([])
  })

  test('that is not over is not begun again, without a word', async () => {
    const lines = writes()
    const { promise, resolve } = Promise.withResolvers<void>()
    const { times } = noted('*/10 * * * *', () => promise)
    await vi.advanceTimersByTimeAsync(30 * minute)
    expect(times).toHaveLength(1)
    resolve()
    await vi.advanceTimersByTimeAsync(10 * minute)
    expect(times).toHaveLength(2)
    expect(lines).toEqual([])
  })
})
