import { sign } from '../../../lib/receiver/index.ts'

export const token = 'my-webhook-token'
export const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
export const url = 'https://receiver.example/webhooks'
/** Milliseconds since 1970; tests hold it. */
export const noon = Date.parse('2026-11-20T12:00:00.000Z')
export const atNoon = () => noon

export const event = {
  event_id: '6191cd4e-661a-4019-8612-b390a945a09f',
  event_timestamp: '2026-11-20T11:59:59.000Z',
  event_type: 'PostCreatedHook',
  payload: { id: '2', title: 'Hello – 漢字', space_id: '3' },
}
export const body = JSON.stringify(event)

/** The headers of a genuine delivery, with changes; undefined leaves a header out. */
export async function headersOf(
  changes: Readonly<Record<string, string | undefined>> = {},
  text = body,
): Promise<Record<string, string>> {
  const genuine = await sign(text, { token, secrets: secret, now: atNoon })
  return Object.fromEntries(
    Object.entries({ ...genuine, ...changes }).filter((each): each is [string, string] => each[1] !== undefined),
  )
}

/** A delivery of this text. */
export const deliveryOf = async (changes: Readonly<Record<string, string | undefined>> = {}, text = body): Promise<Request> =>
  new Request(url, { method: 'POST', headers: await headersOf(changes, text), body: text })
