/** JSON that came over the wire: a test looks into it as it is, and `expect` shows when something is missing. */
// biome-ignore lint/suspicious/noExplicitAny: the one place; every typed alternative would hide what a client really sees
export type Json = any
