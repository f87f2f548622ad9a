import { record } from '../fields.ts'

/** `{}`: what some operations answer with 200 where others answer 204 with nothing. */
export const Empty = record('EmptyResponse', {})
