import { BoolInput, HttpUrl, LongText, optional, optionalOrNull, ShortText } from '../../fields.ts'

/** The fields of a member that only the host changes. */
export const profile = {
  /** Without it the address is not shown (interface.md, 7.2). */
  commercial_email_consent: optional(BoolInput),
  time_zone: optionalOrNull(ShortText),
  location: optionalOrNull(ShortText),
  bio: optionalOrNull(LongText),
  /** The address of an image. */
  avatar: optionalOrNull(HttpUrl),
}
