/** A registry of metrics. The counting code decides how many labels there may be. */
import { type Labels, labelsText, type Metric, type MetricSample, metricsText, Observed } from '../lib/base/metric.ts'

export const contentType = 'text/plain; version=0.0.4; charset=utf-8'

/** What a metric counts or measures, for the line `# HELP`. */
export interface Described {
  readonly name: string
  readonly help: string
  /** Whether its series have labels. One without labels is there from the beginning, as 0. */
  readonly labelled?: boolean
}

export interface Counter {
  add(by?: number, labels?: Labels): void
  /** Ends the series of these labels. */
  remove(labels: Labels): void
}

export interface Gauge extends Counter {
  set(value: number, labels?: Labels): void
  /** Ends all series. */
  clear(): void
}

export interface Histogram {
  observe(value: number, labels?: Labels): void
  /** Ends the series of these labels. */
  remove(labels: Labels): void
}

export interface Registry {
  counter(metric: Described): Counter
  gauge(metric: Described): Gauge
  /** @param bounds the upper bounds of its buckets, ascending */
  histogram(metric: Described, bounds: readonly number[]): Histogram
  /** @param before sets figures that are only measured when they are read */
  collect(before: () => void): void
  /** Includes metrics that are counted elsewhere. */
  include(read: () => readonly Metric[]): void
  text(): string
}

/**
 * The series of a metric, each by the text of its labels.
 * @param first the state of one that is new; one without labels is there from the beginning
 */
function seriesOf<T>({ labelled = false }: Described, first: () => T) {
  const all = new Map<string, { readonly labels: Labels; state: T }>()
  const at = (labels: Labels) => {
    const key = labelsText(labels)
    const known = all.get(key)
    if (known) return known
    const series = { labels, state: first() }
    all.set(key, series)
    return series
  }
  if (!labelled) at({})
  return { all, at }
}

/** One value for each set of labels. */
function singles(metric: Described) {
  const { all, at } = seriesOf(metric, () => 0)
  const gauge: Gauge = {
    add(by = 1, labels = {}) {
      at(labels).state += by
    },
    set(value, labels = {}) {
      at(labels).state = value
    },
    remove: (labels) => void all.delete(labelsText(labels)),
    clear: () => all.clear(),
  }
  return { gauge, samples: () => Array.from(all.values(), ({ labels, state: value }) => ({ name: metric.name, labels, value })) }
}

function buckets(metric: Described, bounds: readonly number[]) {
  const { all, at } = seriesOf(metric, () => new Observed(bounds))
  const histogram: Histogram = {
    observe: (value, labels = {}) => at(labels).state.add(value),
    remove: (labels) => void all.delete(labelsText(labels)),
  }
  return { histogram, samples: () => Array.from(all.values()).flatMap(({ labels, state }) => state.samples(metric.name, labels)) }
}

export function createRegistry(): Registry {
  const kept: (() => readonly Metric[])[] = []
  const collectors: (() => void)[] = []
  const keep = (type: Metric['type'], { name, help }: Described, samples: () => readonly MetricSample[]): void => {
    kept.push(() => [{ name, help, type, samples: samples() }])
  }
  const single = (type: Metric['type'], metric: Described): Gauge => {
    const { gauge, samples } = singles(metric)
    keep(type, metric, samples)
    return gauge
  }
  return {
    counter: (metric) => single('counter', metric),
    gauge: (metric) => single('gauge', metric),
    histogram(metric, bounds) {
      const { histogram, samples } = buckets(metric, bounds)
      keep('histogram', metric, samples)
      return histogram
    },
    collect: (before) => void collectors.push(before),
    include: (read) => void kept.push(read),
    text() {
      for (const before of collectors) before()
      return metricsText(kept.flatMap((read) => read()))
    },
  }
}
