/** The options of each function of the receiver, as far as their names go. */

/**
 * @param call the call's name, for the message
 * @param names the options that exist
 * @throws TypeError for what is no object, and for an option that does not exist
 */
export function requireOptions(call: string, given: unknown, names: readonly string[]): void {
  if (typeof given !== 'object' || given === null)
    throw new TypeError(`${call}: the options must be an object. Options: ${names.join(', ')}`)
  // A misspelt `secrets` would leave every signature unchecked.
  const unknown = Object.keys(given).find((name) => !names.includes(name))
  if (unknown === undefined) return
  const begins = (name: string) => name.slice(0, 3).toLowerCase()
  const meant = names.find((name) => begins(name) === begins(unknown))
  const remedy = meant === undefined ? '' : `; did you mean ${meant}?`
  throw new TypeError(`${call}: option \`${unknown.slice(0, 40)}\` does not exist. Options: ${names.join(', ')}${remedy}`)
}

/**
 * @param missing what `undefined` would mean, as the end of a sentence
 * @throws TypeError for an option that is there and `undefined`, as when a variable is not set; it may be left out
 */
export function requireStated(call: string, given: object, name: string, missing: string): void {
  if (name in given && Reflect.get(given, name) === undefined)
    throw new TypeError(
      `${call}: option \`${name}\` is undefined, so ${missing}: set it, or leave the option out if you mean that`,
    )
}
