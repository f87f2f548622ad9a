/** Reading responses: bounded in size, with ids that are too large for a number kept whole. */
import { InvalidResponse } from './errors.ts'
import { orAborted } from './timing.ts'

/** The code of the error for a response that is too large. */
export const tooLargeCode = 'response_too_large'

const tooLarge = (request: string, { status, headers }: Response, most: number): InvalidResponse =>
  new InvalidResponse(`${request}: the response is larger than ${most} bytes (option \`maxResponseBytes\`)`, {
    ...{ code: tooLargeCode, status, headers },
  })

/**
 * The text of a response.
 * @param most bytes
 * @throws InvalidResponse if it is larger; the rest is not read
 */
export async function readText(request: string, response: Response, most: number, signal: AbortSignal): Promise<string> {
  const reader = response.body?.getReader()
  if (!reader) return ''
  try {
    if (Number(response.headers.get('content-length') ?? 0) > most) throw tooLarge(request, response, most)
    const decoder = new TextDecoder()
    let [text, size] = ['', 0]
    for (;;) {
      const { done, value } = await orAborted(reader.read(), signal)
      if (done) return text + decoder.decode()
      size += value.length
      if (size > most) throw tooLarge(request, response, most)
      text += decoder.decode(value, { stream: true })
    }
  } catch (error) {
    // No caller waits for this: the connection is dropped.
    reader.cancel(error).catch(() => {})
    throw error
  }
}

/** A number of the wire that JavaScript would round is left as its digits. Older engines round it: they show no source. */
function exact(_key: string, value: unknown, context?: { readonly source?: string }): unknown {
  const isRounded = typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value)
  return isRounded && context?.source !== undefined && /^\d+$/.test(context.source) ? context.source : value
}

const digits = (value: unknown): unknown => (typeof value === 'number' ? String(value) : value)

/** The same, with every id as its digits. */
function withTexts(key: string, value: unknown, context?: { readonly source?: string }): unknown {
  const whole = exact(key, value, context)
  if (/(?:^|_)id$/.test(key)) return digits(whole)
  return /_ids$/.test(key) && Array.isArray(whole) ? whole.map(digits) : whole
}

/**
 * The value of a response.
 * @param ids whether ids that are numbers become texts
 * @throws SyntaxError if the text is not JSON
 */
export function parseJson(text: string, ids: 'string' | undefined): unknown {
  if (ids === 'string') return JSON.parse(text, withTexts)
  return /\d{16}/.test(text) ? JSON.parse(text, exact) : JSON.parse(text)
}
