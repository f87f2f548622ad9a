/** Metrics, and the text format of Prometheus (version 0.0.4). */

export type Labels = Readonly<Record<string, string>>

/** One value of a metric. */
export interface MetricSample {
  /** The name of the metric; that of a histogram ends with `_bucket`, `_sum` or `_count`. */
  readonly name: string
  readonly labels: Labels
  readonly value: number
}

/** A metric with all of its values. */
export interface Metric {
  readonly name: string
  /** What it counts or measures, and its unit. */
  readonly help: string
  readonly type: 'counter' | 'gauge' | 'histogram'
  readonly samples: readonly MetricSample[]
}

const escaped = (text: string): string => text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')

/** Labels as between braces. */
export const labelsText = (labels: Labels): string =>
  Object.entries(labels)
    .map(([name, value]) => `${name}="${escaped(value).replaceAll('"', '\\"')}"`)
    .join()

/** A value, or the bound of a bucket. */
const figure = (value: number): string =>
  Math.abs(value) === Number.POSITIVE_INFINITY ? `${value > 0 ? '+' : '-'}Inf` : `${value}`

function line({ name, labels, value }: MetricSample): string {
  const text = labelsText(labels)
  return `${name}${text && `{${text}}`} ${figure(value)}\n`
}

export const metricsText = (metrics: readonly Metric[]): string =>
  metrics
    .map(
      ({ name, help, type, samples }) => `# HELP ${name} ${escaped(help)}\n# TYPE ${name} ${type}\n${samples.map(line).join('')}`,
    )
    .join('\n')

/** Values of one set of labels, counted by buckets. */
export class Observed {
  #sum = 0
  #count = 0
  /** How many values each bound is not below. */
  readonly #buckets: number[]
  readonly #bounds: readonly number[]

  /** @param bounds the upper bounds of the buckets, ascending */
  constructor(bounds: readonly number[]) {
    this.#bounds = bounds
    this.#buckets = bounds.map(() => 0)
  }

  add(value: number): void {
    this.#sum += value
    this.#count += 1
    for (const [place, bound] of this.#bounds.entries())
      if (value <= bound) this.#buckets[place] = (this.#buckets[place] ?? 0) + 1
  }

  samples(name: string, labels: Labels): readonly MetricSample[] {
    return [
      ...[...this.#bounds, Number.POSITIVE_INFINITY].map((bound, place) => ({
        name: `${name}_bucket`,
        labels: { le: figure(bound), ...labels },
        value: this.#buckets[place] ?? this.#count,
      })),
      { name: `${name}_sum`, labels, value: this.#sum },
      { name: `${name}_count`, labels, value: this.#count },
    ]
  }
}
