/** The user of this process, for the audit. */
import { userInfo } from 'node:os'

/** A container's user may have no name. */
function userName(): string | undefined {
  try {
    return userInfo().username
  } catch {
    return undefined
  }
}

/** The user in words, for a visitor who enters the panel by a link that names no one. */
export function localUser(): string {
  const name = userName()
  return name === undefined ? 'the operator' : `user ${name}`
}

/** The actor of a command: `cli:ada`. */
export const commandActor = (): string => `cli:${userName() ?? 'operator'}`
