/** Work outside of a transaction: no work without its line, and no line about work that was not done. */
import { expect, test } from 'vitest'
import { systemChance } from '../../../lib/base/chance.ts'
import { type Work, withLines } from '../../../lib/host/audit/audited-work.ts'
import type { RelayRecord } from '../../../lib/index.ts'

const work = (network: string): Work => ({
  ...{ network, action: 'deliveries.resent', subject: { type: 'network', id: network }, details: { matched: 2 } },
})

function recorder(failing: (entry: RelayRecord) => boolean = () => false) {
  const lines: RelayRecord[] = []
  const record = async (entry: RelayRecord) => {
    if (failing(entry)) throw new Error('no room')
    lines.push(entry)
  }
  const told = () => lines.map(({ network, action, details }) => [network, action, details])
  return { lines, record, told, chance: systemChance }
}

const asked = { work: 'deliveries.resent', matched: 2 }

test('work on two networks leaves two lines on each, all with the same id', async () => {
  const { record, told, lines, chance } = recorder()
  const done = (_: unknown, { network }: Work) => ({ resent: Number(network) })
  expect(await withLines([work('1'), work('2')], { record, chance, run: async () => 'result', done })).toBe('result')
  expect(told()).toEqual([
    ['1', 'work.requested', asked],
    ['2', 'work.requested', asked],
    ['1', 'deliveries.resent', { matched: 2, resent: 1 }],
    ['2', 'deliveries.resent', { matched: 2, resent: 2 }],
  ])
  expect(new Set(lines.map(({ work_id }) => work_id)).size).toBe(1)
})

test('without a line nothing is done, and what was asked before has failed', async () => {
  const { record, told, chance } = recorder(({ network }) => network === '2')
  let runs = 0
  const run = async () => void runs++
  await expect(withLines([work('1'), work('2')], { record, chance, run, done: () => ({}) })).rejects.toThrow('no room')
  expect([runs, told()]).toEqual([
    0,
    [
      ['1', 'work.requested', asked],
      ['1', 'work.failed', { work: 'deliveries.resent' }],
    ],
  ])
})

test('work that fails has a line with the part that was done, and its own error', async () => {
  const { record, told, chance } = recorder()
  const run = () => Promise.reject(new Error('the relay is away'))
  const parts = { record, chance, run, done: () => ({ resent: 2 }), before: () => ({ resent: 1 }) }
  await expect(withLines([work('1')], parts)).rejects.toThrow('the relay is away')
  expect(told()).toEqual([
    ['1', 'work.requested', asked],
    ['1', 'work.failed', { work: 'deliveries.resent', resent: 1 }],
  ])
})

test('work that finds nothing to do has failed, and an unwritten result leaves the intent alone', async () => {
  const nothing = recorder()
  await withLines([work('1')], { ...nothing, run: async () => {}, done: () => undefined })
  expect(nothing.told().at(-1)).toEqual(['1', 'work.failed', { work: 'deliveries.resent' }])
  const full = recorder(({ action }) => action === 'deliveries.resent')
  await expect(withLines([work('1')], { ...full, run: async () => {}, done: () => ({}) })).rejects.toThrow('no room')
  expect(full.told()).toEqual([['1', 'work.requested', asked]])
})
