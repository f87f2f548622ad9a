/** Reads the fields of an interface, or of an object of schemas, with their doc comments, from its source. For reference pages. */

export interface Field {
  readonly name: string
  readonly optional: boolean
  readonly type: string
  /** The doc comment as one line. */
  readonly text: string
}

/**
 * The fields of an interface, or of an object of schemas, in their order.
 * @param source TypeScript as this project formats it: one field begins on each line
 * @param name the name of the interface or constant
 * @throws Error when the source has no such interface, or a field without a doc comment
 */
export function fieldsOf(source: string, name: string): readonly Field[] {
  const lines = source.split('\n')
  const start = lines.findIndex((line) => line.startsWith(`export interface ${name} `) || line === `export const ${name} = {`)
  if (start === -1) throw new Error(`there is no interface or constant ${name}`)
  const fields: Field[] = []
  let comment: string[] = []
  for (let at = start + 1; lines[at] !== '}'; at++) {
    const line = lines[at] ?? ''
    const isComment = /^\s*(?:\/\*\*|\*)/.test(line)
    if (isComment) {
      if (line.trim().startsWith('/**')) comment = []
      comment.push(line.replace(/^\s*\/?\*+\/?\s?/, '').replace(/\s*\*\/$/, ''))
      continue
    }
    const field = /^ {2}(?:readonly )?(\w+)(\??)(?:: ?(.*)|\(.*)$/.exec(line)
    if (!field) continue
    const [, key = '', mark = '', begin = ''] = field
    const type = [begin]
    while (/^ {4}/.test(lines[at + 1] ?? '') || /^ {2}[}|]/.test(lines[at + 1] ?? '')) type.push((lines[++at] ?? '').trim())
    const text = comment
      .filter((part) => !part.startsWith('@'))
      .join(' ')
      .trim()
    if (text === '') throw new Error(`${name}.${key} has no doc comment`)
    const whole = type.join(' ').trim()
    fields.push({ name: key, optional: mark === '?', type: mark === '?' ? withoutUndefined(whole) : whole, text })
    comment = []
  }
  return fields
}

/** An optional field may be given as `undefined`, or left out: readers of a page need to see that once. */
const withoutUndefined = (type: string): string =>
  type.endsWith(' | undefined') ? type.replace(/ \| undefined$/, '').replace(/^\((\(.*)\)$/, '$1') : type
