/** A registry of metrics. The counting code decides how many labels there may be. */
import { type Labels, labelsText, type Metric, type MetricSample, metricsText, Observed } from '../lib/base/metric.ts'

export const contentType = 'text/plain; version=0.0.4; charset=utf-8'

/** Set if the series of a metric have labels. One without labels is there from the beginning, as 0. */
type Labelled = 'labelled'

export interface Counter {
  add(by?: number, labels?: Labels): void
  remove(labels: Labels): void
}

export interface Gauge extends Counter {
  set(value: number, labels?: Labels): void
  clear(): void
}

export interface Histogram {
  observe(value: number, labels?: Labels): void
  remove(labels: Labels): void
}

export interface Registry {
  /** @param help what it counts, for the line `# HELP` */
  counter(name: string, help: string, labelled?: Labelled): Counter
  gauge(name: string, help: string, labelled?: Labelled): Gauge
  /** @param bounds the upper bounds of its buckets, ascending */
  histogram(name: string, help: string, bounds: readonly number[], labelled?: Labelled): Histogram
  /** @param before sets figures that are only measured when they are read */
  collect(before: () => void): void
  /** Includes metrics that are counted elsewhere. */
  include(read: () => readonly Metric[]): void
  text(): string
}

export function createRegistry(): Registry {
  const kept: (() => readonly Metric[])[] = []
  const collectors: (() => void)[] = []

  /**
   * Keeps the series of a metric, each by the text of its labels.
   * @param first the state of one that is new; one without labels is there from the beginning
   */
  function series<T>(
    metric: Omit<Metric, 'samples'>,
    labelled: Labelled | undefined,
    first: () => T,
    samplesOf: (state: T, labels: Labels) => readonly MetricSample[],
  ) {
    const all = new Map<string, { readonly labels: Labels; state: T }>()
    const at = (labels: Labels = {}) => {
      const key = labelsText(labels)
      const known = all.get(key)
      if (known) return known
      const made = { labels, state: first() }
      all.set(key, made)
      return made
    }
    if (!labelled) at()
    kept.push(() => [{ ...metric, samples: Array.from(all.values()).flatMap(({ labels, state }) => samplesOf(state, labels)) }])
    return { at, remove: (labels: Labels) => void all.delete(labelsText(labels)), clear: () => all.clear() }
  }

  const single =
    (type: 'counter' | 'gauge') =>
    (name: string, help: string, labelled?: Labelled): Gauge => {
      const { at, ...ends } = series(
        { name, help, type },
        labelled,
        () => 0,
        (value, labels) => [{ name, labels, value }],
      )
      return {
        ...ends,
        add(by = 1, labels) {
          at(labels).state += by
        },
        set(value, labels) {
          at(labels).state = value
        },
      }
    }

  return {
    counter: single('counter'),
    gauge: single('gauge'),
    histogram(name, help, bounds, labelled) {
      const metric = { name, help, type: 'histogram' } as const
      const { at, remove } = series(
        metric,
        labelled,
        () => new Observed(bounds),
        (state, labels) => state.samples(name, labels),
      )
      return { observe: (value, labels) => at(labels).state.add(value), remove }
    },
    collect: (before) => void collectors.push(before),
    include: (read) => void kept.push(read),
    text() {
      for (const before of collectors) before()
      return metricsText(kept.flatMap((read) => read()))
    },
  }
}
