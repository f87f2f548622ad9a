/** Responses that are too long for an agent: long texts and lists in them are cut, and the result says so. */

type Json = Readonly<Record<string, unknown>>

/** The longest response, in characters: more would fill the context of an agent. */
export const longestResponse = 200_000

/** A text or a list is cut to no less than this, in characters and in entries. */
const shortestText = 100
const shortestList = 1

const lengthOf = (value: unknown): number => JSON.stringify(value).length

/** The first characters of a text. A character of two code units stays whole. */
const beginningOf = (text: string, most: number): string => text.slice(0, most).replace(/[\uD800-\uDBFF]$/, '')

function cut(value: unknown, mostText: number, mostEntries: number): unknown {
  if (typeof value === 'string')
    return value.length > mostText ? `${beginningOf(value, mostText)}… [cut: ${mostText} of ${value.length} characters]` : value
  if (Array.isArray(value)) return value.slice(0, mostEntries).map((each) => cut(each, mostText, mostEntries))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, cut(each, mostText, mostEntries)]))
}

/** The same record with shorter texts, then with shorter lists; of a record that no cut makes short enough, its id. */
function* shorter(response: Json): Generator<Json, void, undefined> {
  for (let most = longestResponse / 2; most >= shortestText; most = Math.floor(most / 2))
    yield cut(response, most, Number.POSITIVE_INFINITY) as Json
  for (let most = 1000; most >= shortestList; most = Math.floor(most / 10)) yield cut(response, shortestText, most) as Json
  yield 'id' in response ? { id: cut(response['id'], shortestText, 0) } : {}
}

/**
 * A response that an agent can take.
 * @param remark ends the sentence about what was cut: how the record can be read whole
 * @returns the same, if it is short enough; `next_cursor` is never cut
 */
export function shortened(response: Json, remark: string): Json {
  const length = lengthOf(response)
  if (length <= longestResponse) return response
  const { next_cursor, ...record } = response
  const cursor = next_cursor === undefined ? {} : { next_cursor }
  const sentence = `The response had ${length} characters, more than ${longestResponse}: long texts end with \`[cut: … characters]\`, and long lists after their first entries. ${remark}`
  for (const each of shorter(record)) {
    const result = { shortened: sentence, ...each, ...cursor }
    if (lengthOf(result) <= longestResponse) return result
  }
  return { shortened: sentence, ...cursor }
}

/**
 * How many of the first records fit into a response.
 * @param envelope the characters around them
 */
export function fitting(records: readonly unknown[], envelope: number): number {
  let room = longestResponse - envelope
  const beyond = records.findIndex((record) => {
    room -= lengthOf(record) + 1
    return room < 0
  })
  return beyond === -1 ? records.length : beyond
}
