/** The usual figures of a Node process, under the names that dashboards for Node know. */
import { readdirSync, readFileSync } from 'node:fs'
import { constants, monitorEventLoopDelay, PerformanceObserver } from 'node:perf_hooks'
import process from 'node:process'
import { getHeapSpaceStatistics } from 'node:v8'
import type { Gauge, Registry } from '../../prometheus.ts'

const nano = 1e9

/** What `read` gives, or nothing on systems that lack it. */
function known<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}

function processorTime(registry: Registry): void {
  const named = (part: string, what: string) =>
    registry.counter(`process_cpu_${part}seconds_total`, `Total ${what} CPU time spent in seconds.`)
  const user = named('user_', 'user')
  const system = named('system_', 'system')
  const both = named('', 'user and system')
  let before = process.cpuUsage()
  registry.collect(() => {
    const now = process.cpuUsage()
    user.add((now.user - before.user) / 1e6)
    system.add((now.system - before.system) / 1e6)
    both.add((now.user + now.system - before.user - before.system) / 1e6)
    before = now
  })
  const start = registry.gauge('process_start_time_seconds', 'Start time of the process since unix epoch in seconds.')
  start.set(Math.round(performance.timeOrigin / 1000))
}

function memory(registry: Registry): void {
  const resident = registry.gauge('process_resident_memory_bytes', 'Resident memory size in bytes.')
  if (process.platform === 'linux') {
    const virtual = registry.gauge('process_virtual_memory_bytes', 'Virtual memory size in bytes.')
    const data = registry.gauge('process_heap_bytes', 'Process heap size in bytes.')
    registry.collect(() => {
      const status = known(() => readFileSync('/proc/self/status', 'utf8')) ?? ''
      const sizes = [...status.matchAll(/^(VmSize|VmData):\s+(\d+) kB$/gm)]
      for (const [, name, size] of sizes) (name === 'VmSize' ? virtual : data).set(Number(size) * 1024)
    })
  }
  registry.collect(() => resident.set(process.memoryUsage.rss()))
}

function files(registry: Registry): void {
  if (process.platform !== 'linux') return
  const open = registry.gauge('process_open_fds', 'Number of open file descriptors.')
  // The directory itself is open while it is read.
  registry.collect(() => open.set((known(() => readdirSync('/proc/self/fd')) ?? [0]).length - 1))
  const limits = known(() => readFileSync('/proc/self/limits', 'utf8')) ?? ''
  const most = /^Max open files +(\d+)/m.exec(limits)?.[1]
  if (most === undefined) return
  registry.gauge('process_max_fds', 'Maximum number of open file descriptors.').set(Number(most))
}

/** @returns ends the measuring */
function eventLoop(registry: Registry): () => void {
  // Bun has none.
  const delays = known(() => monitorEventLoopDelay({ resolution: 10 }))
  if (!delays) return () => {}
  const lag = registry.gauge('nodejs_eventloop_lag_seconds', 'Lag of event loop in seconds.')
  const named = (name: string, help: string): Gauge => registry.gauge(`nodejs_eventloop_lag_${name}_seconds`, `The ${help}.`)
  const lowest = named('min', 'minimum recorded event loop delay')
  const highest = named('max', 'maximum recorded event loop delay')
  const mean = named('mean', 'mean of the recorded event loop delays')
  const deviation = named('stddev', 'standard deviation of the recorded event loop delays')
  const percentiles = [50, 90, 99].map((percent) => {
    return [percent, named(`p${percent}`, `${percent}th percentile of the recorded event loop delays`)] as const
  })
  delays.enable()
  registry.collect(() => {
    const start = process.hrtime.bigint()
    // Read at the next scrape.
    setImmediate(() => lag.set(Number(process.hrtime.bigint() - start) / nano))
    lowest.set(delays.min / nano)
    highest.set(delays.max / nano)
    mean.set(delays.mean / nano)
    deviation.set(delays.stddev / nano)
    for (const [percent, gauge] of percentiles) gauge.set(delays.percentile(percent) / nano)
    delays.reset()
  })
  return () => void delays.disable()
}

/** What a method of Node lists that has no types, or that other runtimes don't have. */
function listOf(method: '_getActiveHandles' | '_getActiveRequests' | 'getActiveResourcesInfo'): readonly unknown[] | undefined {
  const list: unknown = known(() => Reflect.get(process, method)?.call(process))
  return Array.isArray(list) ? list : undefined
}

function active(registry: Registry): void {
  const kindOf = (each: unknown): string =>
    typeof each === 'string' ? each : (typeof each === 'object' && each?.constructor?.name) || 'Object'
  const lists = [
    [
      'getActiveResourcesInfo',
      'resources',
      'resources that are currently keeping the event loop alive, grouped by async resource type.',
    ],
    ['_getActiveHandles', 'handles', 'libuv handles grouped by handle type. Every handle type is C++ class name.'],
    ['_getActiveRequests', 'requests', 'libuv requests grouped by request type. Every request type is C++ class name.'],
  ] as const
  for (const [method, name, help] of lists) {
    if (listOf(method) === undefined) continue
    const each = registry.gauge(`nodejs_active_${name}`, `Number of active ${help}`, 'labelled')
    const total = registry.gauge(`nodejs_active_${name}_total`, `Total number of active ${name}.`)
    registry.collect(() => {
      const list = listOf(method) ?? []
      each.clear()
      for (const one of list) each.add(1, { type: kindOf(one) })
      total.set(list.length)
    })
  }
}

function heap(registry: Registry): void {
  const named = (name: string, help: string) => registry.gauge(`nodejs_${name}_bytes`, `${help} in bytes.`)
  const total = named('heap_size_total', 'Process heap size from Node.js')
  const used = named('heap_size_used', 'Process heap size used from Node.js')
  const external = named('external_memory', 'Node.js external memory size')
  // Bun has no spaces.
  const parts = known(getHeapSpaceStatistics) ? ['total', 'used', 'available'] : []
  const spaces = parts.map((part) => {
    const help = `Process heap space size ${part} from Node.js in bytes.`
    return registry.gauge(`nodejs_heap_space_size_${part}_bytes`, help, 'labelled')
  })
  registry.collect(() => {
    const { heapTotal, heapUsed, external: outside } = process.memoryUsage()
    total.set(heapTotal)
    used.set(heapUsed)
    external.set(outside)
    if (spaces.length === 0) return
    for (const { space_name, space_size, space_used_size, space_available_size } of getHeapSpaceStatistics()) {
      const sizes = [space_size, space_used_size, space_available_size]
      for (const [place, size] of sizes.entries()) spaces[place]?.set(size, { space: space_name.replace(/_space$/, '') })
    }
  })
}

const collections: Readonly<Record<number, string>> = {
  [constants.NODE_PERFORMANCE_GC_MAJOR]: 'major',
  [constants.NODE_PERFORMANCE_GC_MINOR]: 'minor',
  [constants.NODE_PERFORMANCE_GC_INCREMENTAL]: 'incremental',
  [constants.NODE_PERFORMANCE_GC_WEAKCB]: 'weakcb',
}

/** @returns ends the measuring */
function garbage(registry: Registry): () => void {
  const help = 'Garbage collection duration by kind, one of major, minor, incremental or weakcb.'
  const durations = registry.histogram('nodejs_gc_duration_seconds', help, [0.001, 0.01, 0.1, 1, 2, 5], 'labelled')
  const observer = new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) {
      const detail: unknown = 'detail' in entry ? entry.detail : undefined
      const kind =
        typeof detail === 'object' && detail !== null && 'kind' in detail ? collections[Number(detail.kind)] : undefined
      if (kind !== undefined) durations.observe(entry.duration / 1000, { kind })
    }
  })
  known(() => observer.observe({ entryTypes: ['gc'] }))
  return () => observer.disconnect()
}

/** Adds the figures of this process. */
export function measureProcess(registry: Registry): () => void {
  processorTime(registry)
  memory(registry)
  files(registry)
  const endEventLoop = eventLoop(registry)
  active(registry)
  heap(registry)
  const [major = '', minor = '', patch = ''] = process.versions.node.split('.')
  const version = registry.gauge('nodejs_version_info', 'Node.js version info.', 'labelled')
  version.set(1, { version: process.version, major, minor, patch })
  const endGarbage = garbage(registry)
  return () => {
    endEventLoop()
    endGarbage()
  }
}
