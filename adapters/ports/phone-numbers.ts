/** Phone numbers by libphonenumber-js, with the whole of Google's metadata (docs/decisions/dependencies.md). */
import type { PhoneNumbers } from '../../lib/ports.ts'
import { notLoaded, requirePackage } from '../optional-package.ts'

/** An optional peer, as it is large: `ports()` leaves the port out where it is not installed. */
export const phoneNumbersPackage = 'libphonenumber-js'

/**
 * The port `phoneNumbers`. It needs the package `libphonenumber-js`.
 * @returns a port that takes numbers of all countries, each with its country code
 * @throws Error that names the command, if the package is not installed
 */
export function phoneNumbers(): PhoneNumbers {
  requirePackage('phoneNumbers()', phoneNumbersPackage)
  return {
    async parse(text) {
      // The metadata loads with the first number, because a server starts much sooner without it.
      const { parsePhoneNumberFromString } = await load()
      // `extract: false`: the whole text is the number, none is picked out of a sentence.
      const number = parsePhoneNumberFromString(text.trim(), { extract: false })
      return number?.isValid() ? number.number : undefined
    },
  }
}

// In `try`, which shows bundlers that it may be missing.
async function load() {
  try {
    return await import('libphonenumber-js/max')
  } catch (error) {
    throw notLoaded(error, 'phoneNumbers()', phoneNumbersPackage)
  }
}
