/** The number of bytes of a text in UTF-8. Half of a surrogate pair alone becomes a replacement character, of three bytes. */
export function utf8Length(text: string): number {
  let bytes = text.length
  for (let place = 0; place < text.length; place++) {
    const unit = text.charCodeAt(place)
    if (unit < 0x80) continue
    bytes += unit < 0x800 ? 1 : 2
    // The second half of a pair follows: both have four bytes together.
    if (unit >= 0xd800 && unit < 0xdc00 && isSecondHalf(text.charCodeAt(place + 1))) place += 1
  }
  return bytes
}

const isSecondHalf = (unit: number): boolean => unit >= 0xdc00 && unit < 0xe000
