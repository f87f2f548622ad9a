import type { Context } from '../context.ts'
import { fail, invalid } from '../errors.ts'
import type { Ports } from '../ports.ts'

/**
 * A port of the host.
 * @param field the field of the request that needs it
 * @throws ApiError 422 that names the option when the host has put nothing in
 */
export function port<Name extends keyof Ports>(
  { ports }: Pick<Context, 'ports'>,
  name: Name,
  field: string,
): NonNullable<Ports[Name]> {
  return ports[name] ?? fail(invalid(field), `${field} needs option \`ports.${name}\`, which this service does not have`)
}
