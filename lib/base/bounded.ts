/**
 * A map with a bound: an entry too many drops the one that was set longest ago. Setting a key again makes it the newest. Reading
 * it does not, so that a look costs no more than one into a plain map.
 */
export class BoundedMap<K, V> extends Map<K, V> {
  readonly #most: number

  /** @param most entries that it holds, at least one */
  constructor(most: number) {
    super()
    this.#most = most
  }

  override set(key: K, value: V): this {
    this.delete(key)
    if (this.size >= this.#most) this.#dropOldest()
    return super.set(key, value)
  }

  #dropOldest(): void {
    for (const oldest of this.keys()) {
      this.delete(oldest)
      return
    }
  }
}
