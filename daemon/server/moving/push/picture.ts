/** Pictures of badges: they are downloaded from where they are, or read if they are uploads, and uploaded to the server. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
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
export async function uploaded(
  { journal, target, isDry, assets }: Pick<Sending, 'journal' | 'target' | 'isDry' | 'assets'>,
  url: string,
) {
  const label = `assets ${url}`
  const known = journal.get(label)
  if (known) return known.to
  if (isDry) return `new ${label}`
  const asset_file = /^https?:\/\//.test(url) ? await downloaded(target, url) : await kept(assets, url)
  const answer: unknown = await target.run(() => target.client.assets.create({ asset_style: 'avatar', asset_file }))
  const to = isGiven(answer) ? textOf(answer['id']) : ''
  await journal.add([[label, { to, sent: {} }]])
  return to
}

/** An upload whose address is a path. */
async function kept(directory: string, path: string): Promise<File> {
  const name = path.split('/').at(-1) ?? ''
  const bytes = /^[\w-]+(?:\.[\w-]+)+$/.test(name) ? await readFile(join(directory, name)).catch(() => undefined) : undefined
  if (!bytes) throw new LeftOut('its picture is not in the directory of uploads, which --assets names', true)
  return new File([bytes], name)
}

async function downloaded({ client }: Sending['target'], url: string): Promise<File> {
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
