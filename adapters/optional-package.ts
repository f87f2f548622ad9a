/** Packages that a host installs only for what it uses: the optional peers of package.json. */

/** A package that is needed is not installed: one sentence with the command that installs it. */
export class MissingPackage extends Error {
  override readonly name = 'MissingPackage'
}

/** The sentence about a missing package. */
export const missingPackage = (what: string, name: string): string => `${what} needs the package \`${name}\`: npm install ${name}`

const isNotFound = (error: unknown): boolean => error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND'

/**
 * The address of a package's main file. A function of its own, because bundlers look for a package whose name they see in the call,
 * and most hosts lack it. A constant beside the call is put into it by our own build.
 */
export const addressOfPackage = (name: string): string => import.meta.resolve(name)

/** Whether a name leads to a package. A bundle holds packages that no name leads to, and a few runtimes cannot know. */
function leadsNowhere(name: string): boolean {
  try {
    addressOfPackage(name)
    return false
  } catch (error) {
    return isNotFound(error)
  }
}

/** Whether a package is not installed. In a bundle, which may have it inside, the result is `false`. */
export const isMissing = (name: string): boolean => leadsNowhere(name) && !leadsNowhere('folkmoot')

/**
 * Checks that a package is there, without loading it.
 * @param what the part that needs it, as the sentence begins
 * @throws MissingPackage that names the command
 */
export function requirePackage(what: string, name: string): void {
  if (isMissing(name)) throw new MissingPackage(missingPackage(what, name))
}

/**
 * Why a package does not load.
 * @param error what its `import()` threw; one of the package's own stays what it is
 */
export const notLoaded = (error: unknown, what: string, name: string): unknown =>
  isNotFound(error) ? new MissingPackage(missingPackage(what, name), { cause: error }) : error
