/** Figures in the text format of Prometheus (version 0.0.4). The counting code decides how many labels there may be. */

export const contentType = 'text/plain; version=0.0.4; charset=utf-8'

export type Labels = Readonly<Record<string, string>>

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
}

export interface Registry {
  counter(metric: Described): Counter
  gauge(metric: Described): Gauge
  /** @param bounds the upper bounds of its buckets, ascending */
  histogram(metric: Described, bounds: readonly number[]): Histogram
  /** @param before sets figures that are only measured when they are read */
  collect(before: () => void): void
  text(): string
}

const escaped = (text: string): string => text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')

const inner = (labels: Labels): string =>
  Object.entries(labels)
    .map(([name, value]) => `${name}="${escaped(value).replaceAll('"', '\\"')}"`)
    .join()

const figure = (value: number): string =>
  Math.abs(value) === Number.POSITIVE_INFINITY ? `${value > 0 ? '+' : '-'}Inf` : `${value}`

const line = (name: string, labels: string, value: number): string => `${name}${labels && `{${labels}}`} ${figure(value)}`

/** One value for each set of labels. */
function singles({ name, labelled = false }: Described) {
  const values = new Map<string, number>(labelled ? [] : [['', 0]])
  const gauge: Gauge = {
    add(by = 1, labels = {}) {
      const key = inner(labels)
      values.set(key, (values.get(key) ?? 0) + by)
    },
    set: (value, labels = {}) => void values.set(inner(labels), value),
    remove: (labels) => void values.delete(inner(labels)),
    clear: () => values.clear(),
  }
  return { gauge, lines: () => Array.from(values, ([labels, value]) => line(name, labels, value)) }
}

interface Observed {
  sum: number
  count: number
  /** How many values each bound is not below. */
  readonly buckets: number[]
}

function buckets({ name, labelled = false }: Described, bounds: readonly number[]) {
  const none = (): Observed => ({ sum: 0, count: 0, buckets: bounds.map(() => 0) })
  const series = new Map<string, Observed>(labelled ? [] : [['', none()]])
  const histogram: Histogram = {
    observe(value, labels = {}) {
      const key = inner(labels)
      const observed = series.get(key) ?? none()
      series.set(key, observed)
      observed.sum += value
      observed.count += 1
      for (const [place, bound] of bounds.entries())
        if (value <= bound) observed.buckets[place] = (observed.buckets[place] ?? 0) + 1
    },
  }
  const linesOf = (labels: string, { sum, count, buckets }: Observed): readonly string[] => {
    const bucket = (bound: number, value: number): string =>
      line(`${name}_bucket`, [`le="${figure(bound)}"`, labels].filter(Boolean).join(), value)
    return [
      ...bounds.map((bound, place) => bucket(bound, buckets[place] ?? 0)),
      bucket(Number.POSITIVE_INFINITY, count),
      line(`${name}_sum`, labels, sum),
      line(`${name}_count`, labels, count),
    ]
  }
  return { histogram, lines: () => [...series].flatMap(([labels, observed]) => linesOf(labels, observed)) }
}

export function createRegistry(): Registry {
  const metrics: { readonly head: string; readonly lines: () => readonly string[] }[] = []
  const collectors: (() => void)[] = []
  const keep = (type: string, { name, help }: Described, lines: () => readonly string[]): void => {
    metrics.push({ head: `# HELP ${name} ${escaped(help)}\n# TYPE ${name} ${type}\n`, lines })
  }
  const single = (type: string, metric: Described): Gauge => {
    const { gauge, lines } = singles(metric)
    keep(type, metric, lines)
    return gauge
  }
  return {
    counter: (metric) => single('counter', metric),
    gauge: (metric) => single('gauge', metric),
    histogram(metric, bounds) {
      const { histogram, lines } = buckets(metric, bounds)
      keep('histogram', metric, lines)
      return histogram
    },
    collect: (before) => void collectors.push(before),
    text() {
      for (const before of collectors) before()
      return metrics
        .map(
          ({ head, lines }) =>
            head +
            lines()
              .map((each) => `${each}\n`)
              .join(''),
        )
        .join('\n')
    },
  }
}
