/**
 * Looks each direct dependency up in the registry: exits with 1 if one is deprecated, or newer than its `latest` tag, which is how
 * authors withdraw a release. Packages below those are judged by what the lock file says of them. It also fails where `npm ci` would refuse
 * the lock file: one that was written on a machine may lack the packages of other platforms, and `npm install` does not mind.
 */
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { promisify } from 'node:util'

/** What a registry knows of a package. */
interface Published {
  readonly 'dist-tags': { readonly latest: string }
  readonly versions: Readonly<Record<string, { readonly deprecated?: string }>>
}

const run = promisify(execFile)
const read = (name: string): unknown => JSON.parse(readFileSync(join(import.meta.dirname, '..', name), 'utf8'))
const { dependencies, devDependencies } = read('package.json') as {
  readonly dependencies: Readonly<Record<string, string>>
  readonly devDependencies: Readonly<Record<string, string>>
}
const { packages } = read('package-lock.json') as {
  readonly packages: Readonly<Record<string, { readonly deprecated?: string }>>
}

/** Whether a version comes after another one. Of a prerelease, its three numbers count. */
export function isAhead(version: string, latest: string): boolean {
  const [one, other] = [version, latest].map((text) => text.split(/[.+-]/, 3).map(Number))
  const place = (one ?? []).findIndex((part, index) => part !== other?.[index])
  return place !== -1 && (one?.[place] ?? 0) > (other?.[place] ?? 0)
}

const options = { cwd: join(import.meta.dirname, '..'), shell: process.platform === 'win32', timeout: 120_000 }

/** One request per package, in the registry's short form: a process of npm for each takes longer than the requests together. */
async function problemsOf(registry: string, [name, version]: readonly [string, string]): Promise<readonly string[]> {
  const response = await fetch(new URL(name.replace('/', '%2f'), registry), {
    headers: { accept: 'application/vnd.npm.install-v1+json' },
    signal: AbortSignal.timeout(options.timeout),
  })
  if (!response.ok) throw new Error(`${response.url} responds with ${response.status}`)
  const { 'dist-tags': tags, versions } = (await response.json()) as Published
  const deprecated = versions[version]?.deprecated
  return [
    ...(versions[version] ? [] : [`${name}@${version} is not in the registry`]),
    ...(deprecated ? [`${name}@${version} is deprecated: ${deprecated}`] : []),
    ...(isAhead(version, tags.latest) ? [`${name}@${version} is ahead of its latest release, ${tags.latest}`] : []),
  ]
}

/** What `npm ci` says against the lock file. It installs nothing. */
async function refusals(): Promise<readonly string[]> {
  try {
    await run('npm', ['ci', '--dry-run', '--ignore-scripts', '--loglevel=error'], options)
    return []
  } catch (error) {
    const { stderr, message } = error as Error & { readonly stderr: string }
    return (stderr.match(/(?:Missing|Invalid): .*/g) ?? [message]).map((line) => `npm ci refuses package-lock.json: ${line}`)
  }
}

async function check(): Promise<readonly string[]> {
  const problems = Object.entries(packages).flatMap(([path, { deprecated }]) =>
    deprecated ? [`${path} is deprecated: ${deprecated}`] : [],
  )
  const registry = (await run('npm', ['config', 'get', 'registry'], options)).stdout.trim().replace(/\/*$/, '/')
  const waiting = Object.entries({ ...dependencies, ...devDependencies })
  const asker = async () => {
    for (let next = waiting.pop(); next; next = waiting.pop()) problems.push(...(await problemsOf(registry, next)))
  }
  await Promise.all([...Array.from({ length: 6 }, asker), refusals().then((found) => problems.push(...found))])
  return [...new Set(problems)]
}

if (import.meta.main) {
  const problems = await check()
  for (const problem of problems) process.stderr.write(`${problem}\n`)
  if (problems.length === 0)
    process.stdout.write('No dependency is deprecated or ahead of its latest release, and npm ci takes the lock file.\n')
  process.exitCode = problems.length > 0 ? 1 : 0
}
