/** The licences of the packages that the build puts into its files. Theirs must travel with the code. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

interface Package {
  readonly name: string
  readonly version: string
  readonly license?: string
}

/** The directory of the package that a module is in; `undefined` for a module of ours. */
const packageDirectory = (id: string): string | undefined => /^.*[\\/]node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+/.exec(id)?.[0]

function licenceOf(directory: string): string {
  const { name, version, license } = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8')) as Package
  const file = readdirSync(directory).find((name) => /^licen[cs]e/i.test(name))
  if (license === undefined || file === undefined)
    throw new Error(`${name} has no licence in its package: don't put it into our files, make it a dependency`)
  return `${name} ${version} (${license})\n\n${readFileSync(join(directory, file), 'utf8').trim()}\n`
}

/** @param ids the modules of the files */
export function licencesOf(ids: readonly string[]): string {
  const directories = new Set(ids.flatMap((id) => packageDirectory(id) ?? []))
  const licences = [...directories].map(licenceOf).sort()
  return ['The files of this package contain code of the following packages, under their own licences.\n', ...licences].join(
    `\n${'-'.repeat(80)}\n\n`,
  )
}
