import { memoryStorage } from '../../../adapters/storage/memory.ts'
import { createCommunity } from '../../../lib/index.ts'
import type { Output } from '../../output.ts'

/** `folkmoot spec`: the OpenAPI document of the API, or of its webhooks. */
export async function printSpec({ webhooks }: { readonly webhooks?: boolean }, out: Output): Promise<void> {
  const community = createCommunity({ storage: memoryStorage() })
  out.line(JSON.stringify(community.openapi(webhooks ? 'webhooks' : 'api'), null, 2))
  await community.close()
}
