/** A network between a program and a server on this machine, in which every byte takes its time. */
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

export interface FarNetwork {
  readonly port: number
  /** Milliseconds there and back, from now on. */
  roundTrip: number
  stop(): Promise<void>
}

/** @param port of the server */
export async function farNetworkTo(port: number): Promise<FarNetwork> {
  const sockets = new Set<Socket>()
  let roundTrip = 0
  const later = (way: number, work: () => void) => void (roundTrip > 0 ? setTimeout(work, roundTrip * way) : work())
  const server = createServer((near) => {
    const far = connect(port, '127.0.0.1')
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from)
      from.setNoDelay(true)
      from
        .on('error', () => undefined)
        .on('close', () => {
          sockets.delete(from)
          to.destroy()
        })
    }
    far.on('data', (bytes) => later(0.5, () => near.write(bytes)))
    // Making a connection takes one round trip more.
    near.pause()
    later(1, () => near.on('data', (bytes) => later(0.5, () => far.write(bytes))).resume())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    get roundTrip() {
      return roundTrip
    },
    set roundTrip(milliseconds) {
      roundTrip = milliseconds
    },
    async stop() {
      for (const socket of sockets) socket.destroy()
      await new Promise((closed) => server.close(closed))
    },
  }
}
