import { createServer } from 'node:net'

/** A port of loopback below those that the system gives to clients, one of which might take it in between. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = 12_000 + Math.floor(Math.random() * 18_000)
    const server = createServer()
    const isFree = await new Promise<boolean>((resolve) => {
      server.on('error', () => resolve(false))
      server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
    })
    if (isFree) return port
  }
}
