/** Phone numbers by libphonenumber-js, with the whole of Google's metadata (docs/decisions/dependencies.md). */
import type { PhoneNumbers } from '../../lib/ports.ts'

/**
 * The port `phoneNumbers`.
 * @returns a port that takes numbers of all countries, each with its country code
 */
export function phoneNumbers(): PhoneNumbers {
  return {
    async parse(text) {
      // The metadata loads with the first number, because a server starts much sooner without it.
      const { parsePhoneNumberFromString } = await import('libphonenumber-js/max')
      // `extract: false`: the whole text is the number, none is picked out of a sentence.
      const number = parsePhoneNumberFromString(text.trim(), { extract: false })
      return number?.isValid() ? number.number : undefined
    },
  }
}
