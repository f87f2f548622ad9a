/** The figures of docs/operating/scale.md: they are those of the measured costs, and the arithmetic is right. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { type Deployment, deploymentOf, type ScaleCosts, tailOf } from '../../bench/support/scale-model.ts'
import { withFigures } from '../../scripts/scale-figures.ts'

test('the page has what follows from the measured costs', () => {
  const costs = JSON.parse(readFileSync('docs/performance/scale.json', 'utf8')) as ScaleCosts
  const page = readFileSync('docs/operating/scale.md', 'utf8')
  const state = withFigures(page, costs) === page ? 'current' : 'out of date: run `npx node scripts/scale-figures.ts`'
  expect(state).toBe('current')
  const dearer = { ...costs, stored: { ...costs.stored, bytes: costs.stored.bytes * 10 } }
  expect(withFigures(page, dearer)).not.toBe(page)
})

/** Rounds that differ: the dearest one is twice the median. */
const spread = (median: number) => ({ median, lowest: median, highest: median * 2 })
const costs: ScaleCosts = {
  conditions: {},
  post: { api: spread(200), postgres: spread(300), wal: spread(4000), xids: spread(0.9), perSecond: spread(1000) },
  read: { api: spread(50), postgres: spread(20), perSecond: spread(1000) },
  oneSpace: spread(1),
  stored: { rows: 1, bytes: 2000, events: 1, waiting: 1000 },
  delivery: { relay: spread(100), postgres: spread(100), wal: spread(1000), xids: spread(0.1), perSecond: spread(1000) },
  ingest: { relay: spread(20), postgres: spread(30), perSecond: spread(1000) },
  largerBacklog: 1,
  kept: { rows: 2, bytes: 1000 },
  idleEndpoint: { bytes: 1000, relay: 1, postgres: 1 },
}
const deployment: Deployment = {
  ...{ networks: 1000, events: 10_000, mean: 0.1, receiver: 0.1, load: 0.5, cores: 8, keepDelivered: 10, bytes: 1e12 },
}

test('the scarcest part of a database decides how many there are, and a relay has a limit of its own', () => {
  // Eight cores, half busy, of 400 µs for an event; one relay that ingests, half busy, with 50 µs.
  expect(deploymentOf(costs, deployment)).toMatchObject({
    ...{ limits: { processor: 10_000, ingest: 10_000 }, database: 10_000, databases: 1 },
    // 256 attempts in flight of 100 ms, half busy.
    ...{ relay: { processor: 5000, inFlight: 1280 }, relays: 8 },
  })
  expect(deploymentOf(costs, { ...deployment, events: 10_001 }).databases).toBe(2)
  expect(deploymentOf(costs, deployment, 'highest')).toMatchObject({ database: 5000, databases: 2 })
  expect(deploymentOf(costs, { ...deployment, receiver: 0.001 }).relays).toBe(2)
})

test('cores, disk, an outage and transaction ids follow from the costs', () => {
  const { cores, disk, outage, freezeHours, idle } = deploymentOf(costs, deployment)
  // Twice the cores that are busy; a thousand idle endpoints take a thousandth of one.
  expect(cores).toEqual({ api: 4, postgres: 8.002, relays: 2.002 })
  expect(idle).toEqual({ bytes: 1e6, relay: 0.001 })
  // A thousand posts a second in the mean.
  expect(disk.aDay).toBeCloseTo(86_400 * 1000 * 2000)
  expect(disk.relays).toBeCloseTo(86_400 * 1000 * 1000 * 10)
  expect(disk.wal).toBeCloseTo(86_400 * 1000 * 5000)
  expect(disk.daysUntilFull).toBeCloseTo((1e12 - 864e9) / 172.8e9)
  // 36 million events wait, and of 20,000 a second 10,000 are free.
  expect(outage).toMatchObject({ events: 36e6, bytes: 36e9, capacity: 20_000, minutes: 60 })
  expect(freezeHours).toBeCloseTo(200e6 / 1000 / 3600)
})

test('of the tail the largest network has most events, and few are above a rate', () => {
  expect(tailOf(1, 600).largest).toBe(600)
  const three = tailOf(3, 1100)
  // 600, 300 and 200 events a second.
  expect(three.largest).toBeCloseTo(600)
  expect([700, 400, 250, 100].map((rate) => three.above(rate))).toEqual([0, 1, 2, 3])
})
