/**
 * Receivers echo requests: development pages and services such as httpbin print every header that they got. Nothing of a response
 * is kept before the values that an attempt sends as secrets are taken out of it.
 *
 * - A value of 8 characters or more is replaced wherever it stands.
 * - One of 4 to 7, such as `prod`, is replaced where it stands alone: no letter, digit or `_` touches it.
 * - A shorter one, such as `1`, is replaced only behind the name of its header. Else it would blank half of every text.
 *
 * A value may be escaped as in JSON, URLs and HTML, twice at most, and cut off where the text ends.
 */
import { chatOf } from '../../../lib/outbox/chat.ts'
import type { OpenEndpoint } from './credentials.ts'

export const hiddenMark = '[hidden]'

/** Replaces the values in a text, of which the first `limit` characters are kept. */
export type Hide = (text: string, limit: number) => string

interface HiddenValue {
  readonly value: string
  /** The header or parameter that has it. */
  readonly name: string
}

const free = 8
const shortestAlone = 4
/** Of an address: its words, such as `webhooks`, are no secrets. */
const shortestInAddress = 16
const escapeLevels = 2
/** The most characters of one that is escaped twice, such as `%5Cu0041`. */
const longestEscape = 12

/** Hides the credentials of an endpoint, whether an attempt sent them or not, and its signature. */
export function hiderOf(endpoint: OpenEndpoint, signature = ''): Hide {
  const { key, old_keys, secrets, old_secrets, headers, format, url } = endpoint
  const keys = [key, ...old_keys.map(({ value }) => value)].filter((each) => each !== '')
  const signing = [...secrets, ...old_secrets.map(({ value }) => value)]
  return hider([
    ...keys.flatMap((value) => partsOf({ name: 'authorization', value: `Bearer ${value}` })),
    ...(chatOf(format) === null ? [] : addressParts(url)),
    ...signing.map((value) => ({ name: 'secret', value })),
    ...[...(headers ?? []), { name: 'webhook-signature', value: signature }].flatMap(partsOf),
  ])
}

/** The path of an address that is a secret, and what stands in it or in its query alone: a receiver may print either. */
function addressParts(text: string): readonly HiddenValue[] {
  const { pathname, search, searchParams } = new URL(text)
  const parts = [pathname + search, pathname, ...pathname.split('/'), ...searchParams.values()]
  return parts.filter((value) => value.length >= shortestInAddress).map((value) => ({ name: 'url', value }))
}

/** A value, and its parts that receivers print by themselves: what follows the scheme, a password, cookies and parameters. */
function partsOf({ name, value }: HiddenValue): readonly HiddenValue[] {
  const all = [{ name, value }]
  const [, scheme = '', credentials = ''] = /^([\w-]+) +(.+)$/.exec(value) ?? []
  if (/authorization$/i.test(name) || /^(?:basic|bearer|token)$/i.test(scheme)) all.push({ name, value: credentials })
  if (/^basic$/i.test(scheme)) {
    const pair = Buffer.from(credentials, 'base64').toString('utf8')
    all.push({ name, value: pair }, { name: 'password', value: pair.slice(pair.indexOf(':') + 1) })
  }
  if (/signature$/i.test(name)) all.push(...value.split(/[ ,]/).map((part) => ({ name, value: part })))
  for (const [, parameter = '', given = ''] of value.matchAll(/(?:^|[ ;,])([\w.-]+)="?([^";,]+)/g))
    all.push({ name: parameter, value: given })
  return all
}

/** A text whose escapes are undone. */
interface Reading {
  readonly text: string
  /** Where a place of it is in the original. */
  readonly originOf: (place: number) => number
}

type Range = readonly [start: number, end: number]

function hider(given: readonly HiddenValue[]): Hide {
  const values = given.filter(({ value }) => value.trim() !== '')
  const longest = Math.max(0, ...values.map(({ value }) => value.length))
  return (whole, limit) => {
    // What begins before the limit may end behind it.
    const text = whole.slice(0, limit + longest * longestEscape)
    const ranges: Range[] = []
    const seen = new Set<string>()
    let level: readonly Reading[] = [unescaped({ text, originOf: (place) => place }, nul)]
    for (let count = 0; count <= escapeLevels; count++) {
      const found = level.filter((reading) => !seen.has(reading.text) && seen.add(reading.text))
      for (const reading of found) for (const value of values) ranges.push(...rangesOf(value, reading))
      level = found.flatMap((reading) => escapes.map((kind) => unescaped(reading, kind)))
    }
    return without(text, ranges, limit)
  }
}

const isWordCharacter = (text: string, at: number): boolean => /\w/.test(text.charAt(at))

/** Where a value stands in a text, and where the beginning of it ends the text. */
function* rangesOf({ name, value }: HiddenValue, { text, originOf }: Reading): Generator<Range> {
  const range = (from: number, to: number): Range => [originOf(from), originOf(to)]
  for (let at = text.indexOf(value); at !== -1; at = text.indexOf(value, at + 1)) {
    const end = at + value.length
    const isAlone = !isWordCharacter(text, at - 1) && !isWordCharacter(text, end)
    if (value.length >= free || (isAlone && (value.length >= shortestAlone || isBehind(name, text, at)))) yield range(at, end)
  }
  for (let length = Math.min(value.length - 1, text.length); length >= shortestAlone; length--)
    if (value[length - 1] === text.at(-1) && text.endsWith(value.slice(0, length)))
      return yield range(text.length - length, text.length)
}

/** Whether the name of a header stands just before a place, as in `"X-Pin": "12"` and `HTTP_X_PIN=12`. */
function isBehind(name: string, text: string, at: number): boolean {
  const before = text.slice(Math.max(0, at - name.length - 20), at)
  const plain = (words: string): string => words.toLowerCase().replaceAll('_', '-')
  return plain(before.replace(/[^A-Za-z0-9]+$/, '')).endsWith(plain(name))
}

/** A way to write characters: what it looks like, and the character. An escape that is cut off at the end of a text is none. */
interface Escape {
  readonly pattern: RegExp
  readonly characterOf: (match: RegExpExecArray) => string
}

const named: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }

/** Values are ASCII. */
const characterOf = (code: number): string => (code < 0x80 ? String.fromCharCode(code) : '\ufffd')
const inHexadecimal = (digits: string): string => characterOf(Number.parseInt(digits, 16))
const percent: Escape = {
  pattern: /%([0-9a-f]{2})|%[0-9a-f]?$/gi,
  characterOf: ([, digits]) => (digits === undefined ? '' : inHexadecimal(digits)),
}
const escapes: readonly Escape[] = [
  {
    // JSON and JavaScript: `\"`, `\/`, `\u002f`, `\x2f`.
    pattern: /\\u([0-9a-f]{4})|\\x([0-9a-f]{2})|\\([^ux])|\\(?:u[0-9a-f]{0,3}|x[0-9a-f]?)?$/gi,
    characterOf: ([, u, x, character = '']) => ((u ?? x) === undefined ? character : inHexadecimal(u ?? x ?? '')),
  },
  {
    // HTML and XML: `&amp;`, `&#47;`, `&#x2f;`.
    pattern: /&#x([0-9a-f]{1,6});|&#(\d{1,7});|&(amp|lt|gt|quot|apos);|&[#0-9a-z]{0,7}$/gi,
    characterOf: ([, hexadecimal, decimal, name]) =>
      hexadecimal !== undefined
        ? inHexadecimal(hexadecimal)
        : decimal !== undefined
          ? characterOf(Number(decimal))
          : (named[name?.toLowerCase() ?? ''] ?? ''),
  },
  percent,
  {
    // Forms: `+` for a blank.
    pattern: new RegExp(`(\\+)|${percent.pattern.source}`, 'gi'),
    characterOf: ([, plus, digits]) => (plus !== undefined ? ' ' : digits === undefined ? '' : inHexadecimal(digits)),
  },
]
/** The other half of a character in UTF-16. */
const nul: Escape = { pattern: /\0/g, characterOf: () => '' }

function unescaped(reading: Reading, { pattern, characterOf }: Escape): Reading {
  const { text } = reading
  let result = ''
  let done = 0
  /** Where the text goes on behind a change: in the result, and before it. */
  const changes: { readonly after: number; readonly before: number }[] = [{ after: 0, before: 0 }]
  for (const match of text.matchAll(pattern)) {
    result += text.slice(done, match.index) + characterOf(match)
    done = match.index + match[0].length
    changes.push({ after: result.length, before: done })
  }
  if (done === 0) return reading
  result += text.slice(done)
  return {
    text: result,
    originOf(place) {
      let [low, high] = [0, changes.length - 1]
      while (low < high) {
        const middle = Math.ceil((low + high) / 2)
        if ((changes[middle]?.after ?? 0) <= place) low = middle
        else high = middle - 1
      }
      const { after, before } = changes[low] ?? { after: 0, before: 0 }
      return reading.originOf(before + place - after)
    },
  }
}

/** The beginning of a text with a mark for each of these ranges, which may overlap. */
function without(text: string, ranges: readonly Range[], limit: number): string {
  let result = ''
  let done = 0
  for (const [start, end] of ranges.toSorted(([one], [other]) => one - other)) {
    if (start >= limit) break
    if (start >= done) result += text.slice(done, start) + hiddenMark
    done = Math.max(done, end)
  }
  return (result + text.slice(done, Math.max(done, limit))).slice(0, limit)
}
