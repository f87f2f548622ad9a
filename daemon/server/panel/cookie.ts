/** The cookie of a session of the panel. */
import { sessionMs } from './logins.ts'

/** Its name: browsers share cookies between the ports of a host, and two servers must not sign each other out. */
const nameOf = (port: number, secure: boolean): string => `${secure ? '__Host-' : ''}folkmoot-panel-${port}`

const attributes = (secure: boolean, seconds: number): string =>
  `Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Strict${secure ? '; Secure' : ''}`

/** The session in the `Cookie` header of a request. @param secure whether the request came by TLS */
export function sessionIn(header: string | null, port: number, secure: boolean): string | undefined {
  const start = `${nameOf(port, secure)}=`
  const found = header?.split(';').find((each) => each.trim().startsWith(start))
  return found?.trim().slice(start.length)
}

export const setSession = (session: string, port: number, secure: boolean): string =>
  `${nameOf(port, secure)}=${session}; ${attributes(secure, sessionMs / 1000)}`

export const endSession = (port: number, secure: boolean): string => `${nameOf(port, secure)}=; ${attributes(secure, 0)}`
