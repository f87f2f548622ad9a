import { BoolInput, clearable, HttpUrl, LongText, optional, ShortText } from '../fields.ts'

/** The fields of a member that a host may report, beside role, address and name. */
export const profile = {
  /** Without it nobody sees the address (specification, section 2, e-mail rule 2). */
  commercial_email_consent: optional(BoolInput),
  time_zone: clearable(ShortText),
  location: clearable(ShortText),
  bio: clearable(LongText),
  /** The address of an image. */
  avatar: clearable(HttpUrl),
}
