/** A network between a program and its database, which a test can break. */
import { connect, createServer, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'

export interface Proxy {
  /** The database's address, through the proxy. */
  readonly url: string
  /** Ends every connection, and refuses new ones until `mend`. */
  cut(): void
  /** Lets nothing through any more, without a sign to either side, until `mend`. */
  silence(): void
  /**
   * Breaks the connection at the COMMIT of a transaction in which the client has sent this text, so often. It breaks before
   * the COMMIT reaches the database, or before its response reaches the client. Needs statements that are not prepared.
   */
  loseCommits(text: string, what: 'request' | 'answer', times: number): void
  /**
   * From now on, takes nothing from the database on a connection whose client has sent this text, until `mend`.
   * @returns when that has happened the first time
   */
  holdResponses(text: string): Promise<void>
  /** From now on, hands on so much later the responses of the database, in milliseconds. */
  delayResponses(milliseconds: number): void
  /** The ports of its connections, as the database knows its clients by. */
  ports(): readonly number[]
  /** Calls back at each commit that is lost. */
  onLost(callback: () => void): void
  /** Connections made from now on work, and held responses go on. Those that were silenced stay silent. */
  mend(): void
  /**
   * The messages of clients since the last call. A text is everything that a client sent on a connection until the next response:
   * one way to the database.
   */
  sent(): readonly string[]
}

/** @param url the address of a server on this machine */
export async function proxyTo(url: string): Promise<Proxy> {
  const target = new URL(url)
  const sockets = new Set<Socket>()
  let state: 'open' | 'cut' | 'silent' = 'open'
  let lost: () => void = () => {}
  let losing = { text: '', what: 'answer' as 'request' | 'answer', times: 0 }

  let flights: { text: string }[] = []
  let holding: { text: string; held: () => void } | undefined
  let delay = 0
  const held = new Set<Socket>()
  const fars = new Set<Socket>()

  const hold = (socket: Socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket)).on('error', () => {})
  }
  const server = createServer((near) => {
    hold(near)
    if (state === 'cut') return void near.destroy()
    if (state === 'silent') return void near.resume()
    const far = connect(Number(target.port), target.hostname)
    hold(far)
    fars.add(far)
    far.on('close', () => fars.delete(far))
    let dead = false
    let marked = false
    let committing = false
    /** Whether the connection ends here, and these bytes with it. */
    const isLost = (bytes: Buffer, what: 'request' | 'answer'): boolean => {
      if (losing.times === 0) return false
      if (what === 'request') {
        // The end of a read before the transaction travels with its BEGIN.
        const begin = marked ? 0 : bytes.indexOf(losing.text)
        marked ||= begin >= 0
        committing ||= marked && bytes.includes('COMMIT', begin)
      }
      if (!committing || losing.what !== what || !bytes.includes('COMMIT')) return false
      losing.times--
      near.destroy()
      lost()
      return true
    }
    let flight: { text: string } | undefined
    const note = (bytes: Buffer, what: 'request' | 'answer'): void => {
      if (what === 'answer') {
        flight = undefined
        return
      }
      if (!flight) {
        flight = { text: '' }
        flights.push(flight)
      }
      flight.text += bytes.toString('latin1')
    }
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      from.on('data', (bytes) => {
        note(bytes, from === near ? 'request' : 'answer')
        if (holding && from === near && bytes.includes(holding.text)) {
          held.add(far.pause())
          holding.held()
        }
        dead ||= state === 'silent'
        if (dead || isLost(bytes, from === near ? 'request' : 'answer')) return
        if (from === far && delay > 0) setTimeout(() => to.write(bytes), delay)
        else to.write(bytes)
      })
      from.on('close', () => to.destroy())
    }
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const close = () => {
    for (const socket of sockets) socket.destroy()
  }
  onTestFinished(async () => {
    close()
    await new Promise((done) => server.close(done))
  })

  const address = server.address()
  const through = new URL(url)
  through.hostname = '127.0.0.1'
  through.port = String(typeof address === 'object' && address ? address.port : 0)
  return {
    url: through.href,
    cut() {
      state = 'cut'
      close()
    },
    silence() {
      state = 'silent'
    },
    loseCommits(text, what, times) {
      losing = { text, what, times }
    },
    onLost(callback) {
      lost = callback
    },
    holdResponses(text) {
      const { promise, resolve } = Promise.withResolvers<void>()
      holding = { text, held: resolve }
      return promise
    },
    delayResponses(milliseconds) {
      delay = milliseconds
    },
    ports: () => [...fars].flatMap(({ localPort }) => localPort ?? []),
    mend() {
      state = 'open'
      holding = undefined
      delay = 0
      for (const far of held) far.resume()
      held.clear()
    },
    sent() {
      const texts = flights.map(({ text }) => text)
      flights = []
      return texts
    },
  }
}
