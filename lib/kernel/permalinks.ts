import type { Context } from '../context.ts'
import type { Settings } from '../settings.ts'
import type { NetworkRow } from '../storage/tables/administration.ts'

/** The addresses of records' pages: those of the host's function, or `https://<subdomain>.example/<kind>/<id>`. */
export const permalinks =
  ({ permalink }: Pick<Settings, 'permalink'>, { id: network_id, subdomain }: NetworkRow): Context['permalink'] =>
  (kind, id) =>
    permalink ? permalink({ kind, id, subdomain, network_id }) : `https://${subdomain}.example/${kind}/${id}`
