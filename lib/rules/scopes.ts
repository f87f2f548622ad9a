import { accessError } from '../errors.ts'
import type { Scope } from '../operation.ts'

/** Whether these scopes allow what needs `scope`: the scope itself, `*:read` for every read, `*` for everything. */
export function allows(scopes: readonly string[], scope: Scope): boolean {
  return scopes.some((granted) => granted === '*' || granted === scope || (granted === '*:read' && scope.endsWith(':read')))
}

/**
 * Refuses a caller without the operation's scope (interface.md, 6.4).
 * @throws ApiError 403 `forbidden`
 */
export function authorise(scopes: readonly string[], scope: Scope): void {
  if (!allows(scopes, scope)) throw accessError(403, 'forbidden', `The API token lacks the scope ${scope}.`)
}
