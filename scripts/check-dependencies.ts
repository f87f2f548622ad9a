/**
 * Asks the registry about each direct dependency: exits with 1 if one is deprecated, or newer than its `latest` tag, which is how
 * authors withdraw a release. Packages below those are judged by what the lock file says of them. It also fails where `npm ci` would refuse
 * the lock file: one that was written on a machine may lack the packages of other platforms, and `npm install` does not mind.
 */
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { promisify } from 'node:util'

interface Published {
  readonly 'dist-tags': { readonly latest: string }
  readonly deprecated?: string
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

async function problemsOf([name, version]: readonly [string, string]): Promise<readonly string[]> {
  const { stdout } = await run('npm', ['view', `${name}@${version}`, '--json', 'dist-tags', 'deprecated', 'version'], {
    shell: process.platform === 'win32',
    timeout: 120_000,
  })
  const { 'dist-tags': tags, deprecated } = JSON.parse(stdout) as Published
  return [
    ...(deprecated ? [`${name}@${version} is deprecated: ${deprecated}`] : []),
    ...(isAhead(version, tags.latest) ? [`${name}@${version} is ahead of its latest release, ${tags.latest}`] : []),
  ]
}

/** What `npm ci` says against the lock file. It installs nothing. */
async function refusals(): Promise<readonly string[]> {
  const options = { cwd: join(import.meta.dirname, '..'), shell: process.platform === 'win32', timeout: 120_000 }
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
  const waiting = Object.entries({ ...dependencies, ...devDependencies })
  const asker = async () => {
    for (let next = waiting.pop(); next; next = waiting.pop()) problems.push(...(await problemsOf(next)))
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
