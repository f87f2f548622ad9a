import { record } from '../fields.ts'

/** `{}`: what some operations return with 200 where others return 204 with nothing. */
export const Empty = record('EmptyResponse', {})
