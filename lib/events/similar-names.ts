import { nearest } from '../base/suggest.ts'

/** Of so many events of one subject, a person finds the right one. */
const mostOfSubject = 5

/**
 * The events that may have been meant by a name that does not exist: the nearest, else the others of its first word.
 * @param given with or without `Hook`
 * @param names without it
 */
export function similarNames(given: string, names: readonly string[]): readonly string[] {
  const plain = given.replace(/Hook$/, '')
  const near = nearest(plain, names)
  const [subject] = /^[A-Z][a-z]+/.exec(plain) ?? []
  if (near.length > 0 || subject === undefined) return near
  const akin = names.filter((name) => name.startsWith(subject))
  return akin.length > mostOfSubject ? [] : akin
}
