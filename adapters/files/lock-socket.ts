/** Sockets without traffic: an open one shows that its process lives. The kernel closes it in any event. */
import { chmod } from 'node:fs'
import { connect, createServer, type Server } from 'node:net'
import { errorCode } from './errors.ts'

/**
 * Listens without keeping the process alive.
 *
 * @param name a path, or an abstract name, which begins with a zero character
 * @returns `'taken'` when another has it, `undefined` where such sockets cannot be made (a long path, a network share, a
 *   sandbox)
 */
export function listenOn(name: string): Promise<Server | 'taken' | undefined> {
  return new Promise((settle) => {
    const server = createServer((connection) => connection.destroy())
    server.on('error', (error) => settle(errorCode(error) === 'EADDRINUSE' ? 'taken' : undefined))
    server.listen(name, () => {
      server.unref()
      if (name.startsWith('\0')) settle(server)
      // Whatever the umask is. Where it cannot be done, the directory keeps others away.
      else chmod(name, 0o600, () => settle(server))
    })
  })
}

/** Whether a process listens at a path: `no` only if the kernel reports that none does. */
export function isListening(path: string): Promise<'yes' | 'no' | 'unknown'> {
  return new Promise((settle) => {
    const connection = connect(path, () => {
      connection.destroy()
      settle('yes')
    })
    connection.on('error', (error) => settle(['ECONNREFUSED', 'ENOENT'].includes(errorCode(error)) ? 'no' : 'unknown'))
  })
}

/** Stops listening; a path is removed. */
export function stopListening(server: Server | undefined): Promise<void> {
  return new Promise((stopped) => {
    if (server) server.close(() => stopped())
    else stopped()
  })
}
