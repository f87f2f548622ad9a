import type { Context } from '../context.ts'
import type { Settings } from '../settings.ts'
import type { NetworkRow } from '../storage/tables/administration.ts'

/** The addresses of records' pages: those of the host's function, or `https://<subdomain>.example/<kind>/<id>`. */
export function permalinks(
  { permalink }: Pick<Settings, 'permalink'>,
  { id: network_id, subdomain }: NetworkRow,
): Pick<Context, 'permalink' | 'permalinkSource'> {
  if (permalink)
    return { permalink: (kind, id) => permalink({ kind, id, subdomain, network_id }), permalinkSource: () => undefined }
  const before = (kind: string): string => `https://${subdomain}.example/${kind}/`
  return {
    permalink: (kind, id) => before(kind) + id,
    permalinkSource: (kind) => ({ from: 'around', before: before(kind), column: 'id', after: '' }),
  }
}
