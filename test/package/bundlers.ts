/**
 * Bundlers, each with the settings that docs/hosts/bundlers.md names. Vite comes with vitest; the others are in a cache of the user, which
 * `npm run test:hosts` fills (`test/adapters/http/hosts/packages.ts`). Their types are not loaded: the few calls are declared here.
 */
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { bundlers } from '../adapters/http/hosts/packages.ts'

export type Format = 'esm' | 'cjs'

/** A program, and where its bundle goes: the entry is called `server`. */
export interface Bundle {
  readonly directory: string
  readonly entry: string
  readonly to: string
  readonly format: Format
}

/** Makes a bundle; rejects with what the bundler calls an error. */
type Bundler = (bundle: Bundle) => Promise<void>

async function loaded<T>(name: string): Promise<T> {
  const path = createRequire(join(bundlers.directory, 'package.json')).resolve(name)
  const module = (await import(pathToFileURL(path).href)) as { readonly default: T }
  return module.default
}

interface Stats {
  toString(options: object): string
  hasErrors(): boolean
}
type Pack = (config: object, done: (error: Error | null, stats?: Stats) => void) => { close(done: () => void): void }

/** webpack and Rspack take the same settings. */
const packs =
  (name: string): Bundler =>
  async ({ directory, entry, to, format }) => {
    const pack = await loaded<Pack>(name)
    const isModule = format === 'esm'
    const config = {
      ...{ context: directory, entry: { server: entry }, target: 'node', mode: 'production' },
      // Which takes most of the time, and finds no package.
      optimization: { minimize: false },
      output: { path: to, filename: isModule ? '[name].mjs' : '[name].cjs', module: isModule },
      ...(isModule ? { experiments: { outputModule: true } } : {}),
    }
    await new Promise<void>((resolve, reject) => {
      const compiler = pack(config, (error, stats) => {
        const failed = error ?? (stats?.hasErrors() ? new Error(stats.toString({ all: false, errors: true })) : undefined)
        compiler.close(() => (failed ? reject(failed) : resolve()))
      })
    })
  }

interface Esbuild {
  build(options: object): Promise<unknown>
}

/** CommonJS packages need a `require`, and the relay the address of its module: node-cron reads it when it is loaded. */
const esbuildOptions = {
  esm: {
    banner: { js: 'import { createRequire as requireOf } from "node:module"; const require = requireOf(import.meta.url);' },
  },
  cjs: {
    banner: { js: 'const moduleUrl = require("node:url").pathToFileURL(__filename).href;' },
    define: { 'import.meta.url': 'moduleUrl' },
  },
}

const esbuild: Bundler = async ({ directory, entry, to, format }) => {
  const { build } = await loaded<Esbuild>('esbuild')
  await build({
    ...{ absWorkingDir: directory, entryPoints: [entry], bundle: true, platform: 'node', format, external: ['pg-native'] },
    outfile: join(to, format === 'esm' ? 'server.mjs' : 'server.cjs'),
    logLevel: 'silent',
    ...esbuildOptions[format],
  })
}

const vite: Bundler = async ({ directory, entry, to }) => {
  // A name that the compiler does not follow.
  const name: string = 'vite'
  const { build } = (await import(name)) as Esbuild
  await build({
    ...{ root: directory, configFile: false, logLevel: 'silent', ssr: { noExternal: true } },
    build: { ssr: entry, outDir: to, rollupOptions: { output: { entryFileNames: 'server.mjs' } } },
  })
}

/** Each bundler with the formats that docs/hosts/bundlers.md says it makes. */
export const everyBundler: readonly (readonly [name: string, format: Format, bundler: Bundler])[] = [
  ['webpack', 'esm', packs('webpack')],
  ['webpack', 'cjs', packs('webpack')],
  ['Rspack', 'esm', packs('@rspack/core')],
  ['Rspack', 'cjs', packs('@rspack/core')],
  ['esbuild', 'esm', esbuild],
  ['esbuild', 'cjs', esbuild],
  ['Vite', 'esm', vite],
]
