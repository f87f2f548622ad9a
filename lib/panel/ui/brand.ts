/** The host's name and look. */
export interface Brand {
  /** The name in the head of each page; `Community` by default. */
  readonly name?: string
  /** An image as a `data:` URL, or a path of the same origin. */
  readonly logo?: string
  /** The colour of the line at the top: `#rrggbb`. Texts keep their colours, for their contrast. */
  readonly accent?: string
}
