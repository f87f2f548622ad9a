/** A Prometheus with the project's alert rules, all of whose times are divided. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'

export const rulesFile = join(import.meta.dirname, '..', '..', 'docs', 'monitoring', 'alerts.yaml')
const seconds: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600 }

/**
 * The rules with every `for:` and every age that they compare with divided, and every size by 12. The window of a rate stays as it
 * is.
 */
export function shortened(rules: string, factor: number): string {
  return rules
    .replace(
      /for: (\d+)([smh])/g,
      (_, count, unit) => `for: ${Math.ceil((1000 * Number(count) * (seconds[unit] ?? 1)) / factor)}ms`,
    )
    .replace(/(_seconds\{[^}]*\} > )(\d+)/g, (_, before, age) => `${before}${Number(age) / factor}`)
    .replace(/(_bytes\{[^}]*\} > )(\d+)/g, (_, before, size) => `${before}${Number(size) / 12}`)
}

export const rulesOf = (rules: string): string[] => [...rules.matchAll(/- alert: (\w+)/g)].map(([, name = '']) => name)

/** An alert that fires; `instance` is missing where it is about all relays together. */
export interface Firing {
  readonly name: string
  readonly instance: string | undefined
}

export interface Prometheus {
  /** How many targets respond. */
  up(): Promise<number>
  firing(): Promise<readonly Firing[]>
  watch(ports: readonly number[]): Promise<void>
  stop(): void
}

export const isInstalled = (): boolean => spawnSync('prometheus', ['--version']).error === undefined

export const freePort = () =>
  new Promise<number>((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' && address ? address.port : 0))
    })
  })

export async function startPrometheus(directory: string, factor: number): Promise<Prometheus> {
  const port = await freePort()
  const config = join(directory, 'prometheus.json')
  writeFileSync(join(directory, 'rules.yaml'), shortened(readFileSync(rulesFile, 'utf8'), factor))
  // JSON is YAML too.
  const write = (ports: readonly number[]): void =>
    writeFileSync(
      config,
      JSON.stringify({
        global: { scrape_interval: '2s', scrape_timeout: '2s', evaluation_interval: '1s' },
        rule_files: ['rules.yaml'],
        scrape_configs: [{ job_name: 'folkmoot-relay', static_configs: [{ targets: ports.map((each) => `127.0.0.1:${each}`) }] }],
      }),
    )
  write([])
  const child: ChildProcess = spawn(
    'prometheus',
    [
      `--config.file=${config}`,
      `--storage.tsdb.path=${join(directory, 'data')}`,
      `--web.listen-address=127.0.0.1:${port}`,
      '--web.enable-lifecycle',
    ],
    { stdio: 'ignore' },
  )
  const request = async (path: string, method = 'GET'): Promise<Response> => fetch(`http://127.0.0.1:${port}${path}`, { method })
  const ready = () =>
    request('/-/ready').then(
      ({ ok }) => ok,
      () => false,
    )
  for (const begun = performance.now(); !(await ready()); ) {
    if (performance.now() - begun > 30_000) throw new Error('prometheus does not become ready')
    await new Promise((later) => setTimeout(later, 100))
  }

  return {
    async up() {
      const { data } = (await (await request('/api/v1/query?query=sum(up)')).json()) as {
        readonly data: { readonly result: readonly { readonly value: readonly [number, string] }[] }
      }
      return Number(data.result[0]?.value[1] ?? 0)
    },
    async firing() {
      const { data } = (await (await request('/api/v1/alerts')).json()) as {
        readonly data: {
          readonly alerts: readonly { readonly state: string; readonly labels: Readonly<Record<string, string>> }[]
        }
      }
      return data.alerts
        .filter(({ state }) => state === 'firing')
        .map(({ labels }) => ({ name: labels['alertname'] ?? '', instance: labels['instance'] }))
    },
    async watch(ports) {
      write(ports)
      const { ok } = await request('/-/reload', 'POST')
      if (!ok) throw new Error('prometheus does not take its configuration')
    },
    stop: () => void child.kill(),
  }
}
