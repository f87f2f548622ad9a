import { expect, test } from 'vitest'
import { createRegistry } from '../../daemon/prometheus.ts'
import { measureProcess } from '../../daemon/server/operate/process-metrics.ts'

test('metrics are written in their order, with their labels escaped', () => {
  const registry = createRegistry()
  const asked = registry.counter('asked_total', 'Back\\slash,\nand "quotes".', 'labelled')
  const size = registry.gauge('size', 'A size.')
  registry.gauge('nothing', 'No series.', 'labelled')
  const last = registry.gauge('last', 'At the last moment.')
  let value = Number.NaN
  registry.collect(() => last.set(value))
  asked.add(1, { path: 'a\\b\n"c"', kind: 'x' })
  asked.add(2, { path: 'a\\b\n"c"', kind: 'x' })
  asked.add(0, { path: 'other', kind: 'x' })
  size.add()
  size.add(-3.5)
  expect(registry.text()).toBe(String.raw`# HELP asked_total Back\\slash,\nand "quotes".
# TYPE asked_total counter
asked_total{path="a\\b\n\"c\"",kind="x"} 3
asked_total{path="other",kind="x"} 0

# HELP size A size.
# TYPE size gauge
size -2.5

# HELP nothing No series.
# TYPE nothing gauge

# HELP last At the last moment.
# TYPE last gauge
last NaN
`)
  asked.remove({ path: 'other', kind: 'x' })
  size.clear()
  value = Number.POSITIVE_INFINITY
  expect(registry.text()).toContain('\nlast +Inf\n')
  value = Number.NEGATIVE_INFINITY
  expect(registry.text()).toContain('\nlast -Inf\n')
  expect(registry.text()).not.toMatch(/other|^size/m)
})

test('a histogram counts a value in every bucket that it fits into', () => {
  const registry = createRegistry()
  const plain = registry.histogram('plain', 'Nothing yet.', [1])
  const seconds = registry.histogram('seconds', 'Durations.', [0.5, 2], 'labelled')
  for (const value of [0.25, 0.5, 1, 8]) seconds.observe(value, { of: 'a' })
  expect(registry.text()).toBe(`# HELP plain Nothing yet.
# TYPE plain histogram
plain_bucket{le="1"} 0
plain_bucket{le="+Inf"} 0
plain_sum 0
plain_count 0

# HELP seconds Durations.
# TYPE seconds histogram
seconds_bucket{le="0.5",of="a"} 2
seconds_bucket{le="2",of="a"} 3
seconds_bucket{le="+Inf",of="a"} 4
seconds_sum{of="a"} 9.75
seconds_count{of="a"} 4
`)
  plain.observe(1)
  expect(registry.text()).toContain('plain_bucket{le="1"} 1\nplain_bucket{le="+Inf"} 1\nplain_sum 1\nplain_count 1\n')
})

test('the figures of a process have the names that dashboards for Node know', () => {
  const registry = createRegistry()
  const end = measureProcess(registry)
  const names = [...registry.text().matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name)
  end()
  const ofLinux = ['virtual_memory_bytes', 'heap_bytes', 'open_fds', 'max_fds'].map((name) => `process_${name}`)
  expect(names).toEqual([
    ...['cpu_user_seconds_total', 'cpu_system_seconds_total', 'cpu_seconds_total'].map((name) => `process_${name}`),
    ...['process_start_time_seconds', 'process_resident_memory_bytes', ...(process.platform === 'linux' ? ofLinux : [])],
    ...['', 'min_', 'max_', 'mean_', 'stddev_', 'p50_', 'p90_', 'p99_'].map((part) => `nodejs_eventloop_lag_${part}seconds`),
    ...['resources', 'handles', 'requests'].flatMap((of) => [`nodejs_active_${of}`, `nodejs_active_${of}_total`]),
    ...['heap_size_total', 'heap_size_used', 'external_memory'].map((of) => `nodejs_${of}_bytes`),
    ...['total', 'used', 'available'].map((of) => `nodejs_heap_space_size_${of}_bytes`),
    ...['nodejs_version_info', 'nodejs_gc_duration_seconds'],
  ])
})
