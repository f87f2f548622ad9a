/** Faults that a server makes on purpose, so that the resilience of a client can be tested: which ones, how often, and when. */
import { seededChance, systemChance } from '../../../lib/base/chance.ts'
import { UsageError } from '../../usage.ts'
import { type FaultKind, faultKinds } from './kinds.ts'

export interface FaultPlan {
  readonly faults: readonly { readonly kind: FaultKind; readonly probability: number }[]
  /** Each request waits a time between the two, in milliseconds. */
  readonly latency: { readonly from: number; readonly to: number } | undefined
  readonly seed: string
}

export interface FaultFlags {
  readonly fault: readonly string[]
  readonly latency?: string | undefined
  readonly seed?: string | undefined
}

/** The longest latency, in milliseconds. */
const longestLatency = 60_000

const isKind = (name: string): name is FaultKind => Object.hasOwn(faultKinds, name)

/**
 * The plan of the flags; `undefined` without faults and latency. Without a seed one is drawn.
 * @throws UsageError that names the flag and the remedy
 */
export function planOf({ fault, latency, seed }: FaultFlags): FaultPlan | undefined {
  if (fault.length === 0 && latency === undefined) {
    if (seed !== undefined) throw new UsageError('--seed goes with --fault or --latency: add one, or leave --seed out')
    return undefined
  }
  const faults = fault.map(readFault)
  const twice = faults.find(({ kind }, place) => faults.findIndex((other) => other.kind === kind) < place)
  if (twice) throw new UsageError(`--fault names ${twice.kind} twice: give it once, with the whole probability`)
  // Sums of tenths are not exact.
  const sum = Math.round(faults.reduce((all, { probability }) => all + probability, 0) * 1e9) / 1e9
  if (sum > 1) throw new UsageError(`the probabilities of --fault add up to ${sum}: they may add up to at most 1`)
  return {
    faults,
    latency: latency === undefined ? undefined : readLatency(latency),
    seed: seed ?? String(systemChance.below(1_000_000)),
  }
}

function readFault(text: string): FaultPlan['faults'][number] {
  const [, name = '', number = ''] = /^([\w-]{1,20}):(\d{1,3}(?:\.\d{1,9})?|\.\d{1,9})$/.exec(text) ?? []
  const probability = Number(number)
  if (!isKind(name) || number === '' || probability > 1)
    throw new UsageError(
      `--fault must be like 429:0.1, a fault and its probability from 0 to 1, got ${JSON.stringify(text.slice(0, 100))}. Faults: ${Object.keys(faultKinds).join(', ')}`,
    )
  return { kind: name, probability }
}

function readLatency(text: string): { readonly from: number; readonly to: number } {
  const [, first, second = first] = /^(\d{1,6})(?:-(\d{1,6}))?$/.exec(text) ?? []
  const [from, to] = [Number(first), Number(second)]
  if (!(from <= to && to <= longestLatency))
    throw new UsageError(
      `--latency must be like 50-200 or 100, in milliseconds, the smaller one first and at most ${longestLatency}, got ${JSON.stringify(text.slice(0, 100))}`,
    )
  return { from, to }
}

export interface Lot {
  readonly kind: FaultKind | undefined
  /** Milliseconds. */
  readonly latency: number
}

/** Draws the lots of requests, one after another. Plans with equal seeds and flags draw equal lots. */
export function lotsOf({ faults, latency, seed }: FaultPlan): () => Lot {
  const chance = seededChance(seed)
  const resolution = 1_000_000_000
  return () => {
    // Always two draws: latency does not move the faults of a seed, and faults do not move the latency.
    const [point, share] = [chance.below(resolution) / resolution, chance.below(resolution) / resolution]
    let above = 0
    const hit = faults.find(({ probability }) => {
      above += probability
      return point < above
    })
    return { kind: hit?.kind, latency: latency ? Math.round(latency.from + share * (latency.to - latency.from)) : 0 }
  }
}

/** The plan as a sentence, for people who might not expect faults. */
export function describePlan({ faults, latency, seed }: FaultPlan): string {
  const percent = (probability: number): string => `${Math.round(probability * 1e9) / 1e7} %`
  const parts = [
    ...faults.map(({ kind, probability }) => `${kind} for ${percent(probability)}`),
    ...(latency
      ? [latency.from === latency.to ? `${latency.to} ms latency` : `${latency.from} to ${latency.to} ms latency`]
      : []),
  ]
  return `Faults are on: ${parts.join(', ')}; seed ${seed}. Give --seed ${seed} for the same faults again.`
}
