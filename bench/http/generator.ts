/**
 * Sends requests to one server as fast as it responds, in a separate process: keep-alive connections, one request at a time on each. It
 * writes bytes that were made before, and of a response reads the status and the length only: so it costs less than any
 * server.
 */
import { connect, type Socket } from 'node:net'
import { performance } from 'node:perf_hooks'
import process from 'node:process'
import { uniqueMark } from './unique-mark.ts'

export interface Task {
  readonly port: number
  readonly connections: number
  readonly seconds: number
  /** Whole requests; each connection begins at another place and goes round. */
  readonly requests: readonly string[]
}

export interface LoadResult {
  readonly perSecond: number
  /** Milliseconds. */
  readonly p50: number
  readonly p99: number
  readonly count: number
  /** The first problem, after which nothing more was requested. */
  readonly problem?: string
}

let sent = 0

/** The bytes of a request, with a new number where it has the mark. */
function unique(request: Buffer): Buffer {
  const place = request.indexOf(uniqueMark)
  if (place < 0) return request
  const copy = Buffer.from(request)
  copy.write(String(sent++).padStart(uniqueMark.length, '0'), place)
  return copy
}

const headEnd = Buffer.from('\r\n\r\n')

/** How many bytes a response has, and whether it is a success; `undefined` while its head is not complete. */
function headOf(bytes: Buffer): { readonly length: number; readonly ok: boolean } | undefined {
  const end = bytes.indexOf(headEnd)
  if (end < 0) return undefined
  const head = bytes.toString('latin1', 0, end)
  const body = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1]
  if (body === undefined) throw new Error(`a response without content-length: ${head.slice(0, 200)}`)
  return { length: end + headEnd.length + Number(body), ok: head.startsWith('2', 9) }
}

async function generateLoad({ port, connections, seconds, requests }: Task): Promise<LoadResult> {
  const ready = requests.map((request) => Buffer.from(request))
  const times: number[] = []
  const sockets: Socket[] = []
  const { promise: problem, resolve: fail } = Promise.withResolvers<string>()
  let open = true
  let next = 0

  function begin(socket: Socket): void {
    let place = Math.floor((next++ * ready.length) / connections)
    let sentAt = 0
    let left = 0
    let kept: Buffer | undefined
    const send = () => {
      const request = ready[place++ % ready.length]
      sentAt = performance.now()
      if (request) socket.write(unique(request))
    }
    socket.on('data', (chunk: Buffer) => {
      try {
        if (left === 0) {
          const bytes = kept ? Buffer.concat([kept, chunk]) : chunk
          const head = headOf(bytes)
          kept = head ? undefined : bytes
          if (!head) return
          if (!head.ok) return fail(bytes.toString('utf8', 0, 500))
          left = head.length - bytes.length
        } else left -= chunk.length
        if (left > 0) return
        times.push(performance.now() - sentAt)
        if (open) send()
      } catch (error) {
        fail(String(error))
      }
    })
    send()
  }

  for (let index = 0; index < connections; index++) {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true })
    sockets.push(socket)
    await new Promise((connected) => socket.once('connect', connected))
    socket.on('error', (error) => fail(String(error)))
    socket.on('close', () => open && fail('the server closed a connection'))
  }
  const begun = performance.now()
  for (const socket of sockets) begin(socket)
  const over = new Promise<undefined>((resolve) => setTimeout(() => resolve(undefined), seconds * 1000))
  const said = await Promise.race([problem, over])
  open = false
  const elapsed = (performance.now() - begun) / 1000
  for (const socket of sockets) socket.destroy()
  const sorted = Float64Array.from(times).sort()
  const quantile = (part: number): number => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0
  const figures = { perSecond: times.length / elapsed, p50: quantile(0.5), p99: quantile(0.99), count: times.length }
  return said === undefined ? figures : { ...figures, problem: said }
}

process.on('message', async (task: Task) => process.send?.(await generateLoad(task)))
process.on('disconnect', () => process.exit(0))
