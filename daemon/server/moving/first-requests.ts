/** The first requests to a server: is it there, and whose token is it? */
import { isClientError } from '../../../lib/client/index.ts'
import { type ApiRecord, isApiRecord } from './api-record.ts'
import type { Paced } from './paced-client.ts'

/** A wrong address is found soon. */
export const fewRetries = { maxRetries: 2 }

/** The token's member; `undefined` if the server does not show it. @throws ClientError */
export async function memberOfToken({ client, run }: Paced): Promise<ApiRecord | undefined> {
  const me: unknown = await run<unknown>(() => client.me.show()).catch((error: unknown) => {
    if (isClientError(error) && (error.status === 403 || error.status === 404)) return undefined
    throw error
  })
  return isApiRecord(me) ? me : undefined
}
