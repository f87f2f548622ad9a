/** Pictures of badges: they are downloaded from where they are, and uploaded to the server. */
import { isClientError } from '../../../../lib/client/index.ts'
import { defaultLimits } from '../../../../lib/limits.ts'
import { fewRetries } from '../first-requests.ts'
import { isGiven, textOf } from '../given.ts'
import { LeftOut } from './push-stage.ts'
import type { Sending } from './send-row.ts'

/**
 * Uploads a picture, unless it was uploaded before.
 * @returns the id of its asset
 * @throws LeftOut if it cannot be had; ClientError
 */
export async function uploaded({ journal, target, isDry }: Pick<Sending, 'journal' | 'target' | 'isDry'>, url: string) {
  const label = `assets ${url}`
  const known = journal.get(label)
  if (known) return known.to
  if (isDry) return `new ${label}`
  const asset_file = await downloaded(target, url)
  const answer: unknown = await target.run(() => target.client.assets.create({ asset_style: 'avatar', asset_file }))
  const to = isGiven(answer) ? textOf(answer['id']) : ''
  await journal.add([[label, { to, sent: {} }]])
  return to
}

async function downloaded({ client }: Sending['target'], url: string): Promise<File> {
  if (!/^https?:\/\//.test(url)) throw new LeftOut('its picture has no address that begins with http', true)
  try {
    const { stream, type } = await client.download(url, { ...fewRetries, maxBytes: defaultLimits.assetBytes })
    const bytes = await new Response(stream).blob()
    if (!type?.startsWith('image/')) throw new LeftOut('the address of its picture leads to something else', true)
    return new File([bytes], new URL(url).pathname.split('/').at(-1) || 'picture', { type })
  } catch (error) {
    if (!isClientError(error)) throw error
    throw new LeftOut('its picture cannot be downloaded', true)
  }
}
