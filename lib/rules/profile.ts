import * as v from 'valibot'
import { BoolInput, clearable, LongText, optional, publish, ShortText } from '../fields.ts'

const webAddress = (text: string): boolean => URL.canParse(text) && ['https:', 'http:'].includes(new URL(text).protocol)

const Address = publish(
  v.pipe(
    v.string('must be a web address'),
    v.maxLength(2000, 'must be a web address'),
    v.check(webAddress, 'must be a web address'),
  ),
  { type: 'string', format: 'uri', maxLength: 2000 },
)

/** What a host may say of a member beside role, address and name. */
export const profile = {
  /** Without it nobody sees the address (specification, section 2, e-mail rule 2). */
  commercial_email_consent: optional(BoolInput),
  time_zone: clearable(ShortText),
  location: clearable(ShortText),
  bio: clearable(LongText),
  /** The address of an image. */
  avatar: clearable(Address),
}
