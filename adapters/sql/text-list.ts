/**
 * A list of texts as one parameter. Where statements travel together, it is sent in the binary format of PostgreSQL's arrays: each text
 * with its length before it. In a list that is one text, both sides look at each character for its quotes.
 */
export class TextList {
  /** The texts of the list, in order. */
  readonly texts: readonly (string | null)[]

  constructor(texts: readonly (string | null)[]) {
    this.texts = texts
  }

  /** The list for `pg`, which asks for it by this name. */
  toPostgres(): readonly (string | null)[] {
    return this.texts
  }
}
