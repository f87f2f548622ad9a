/**
 * The writer of a segment, and whether that process still lives. A process is identified by its number, its start time and the
 * boot of its machine. So neither a re-used number nor a restart makes a dead writer look alive.
 */
import { readFileSync, readlinkSync } from 'node:fs'
import { kill, pid } from 'node:process'
import { errorCode } from './errors.ts'
import { isListening } from './lock-socket.ts'

export interface Owner {
  readonly pid: number
  /** Clock ticks between boot and the start of the process; null where there is no /proc. */
  readonly started: string | null
  /** Id of this boot of the machine; null where there is no /proc. */
  readonly boot: string | null
  /** The name space that `pid` counts in: another container's numbers mean nothing here. */
  readonly namespace: string | null
}

function read(path: string): string | null {
  try {
    return readFileSync(path, 'latin1').trim()
  } catch {
    return null
  }
}

function namespace(): string | null {
  try {
    return readlinkSync('/proc/self/ns/pid')
  } catch {
    return null
  }
}

const boot = (): string | null => read('/proc/sys/kernel/random/boot_id')

/** State letter and start time of a process, or null if it does not exist (or without /proc). */
function processStat(id: number): { readonly state: string; readonly started: string } | null {
  const text = read(`/proc/${id}/stat`)
  if (text === null) return null
  // The name in parentheses may hold anything, blanks and parentheses too: fields count from the last one.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  return { state: fields[0] ?? '', started: fields[19] ?? '' }
}

export function thisProcess(): Owner {
  return { pid, started: processStat(pid)?.started ?? null, boot: boot(), namespace: namespace() }
}

/** An owner file's text, or `undefined` when it is not one. */
export function parseOwner(text: string): Owner | undefined {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value !== 'object' || value === null) return undefined
    const owner = value as Partial<Owner>
    if (!Number.isSafeInteger(owner.pid) || Number(owner.pid) < 1) return undefined
    return {
      pid: Number(owner.pid),
      started: owner.started ?? null,
      boot: owner.boot ?? null,
      namespace: owner.namespace ?? null,
    }
  } catch {
    return undefined
  }
}

/** Whether an owner's process numbers are valid here; otherwise its number is meaningless. */
const isNeighbour = (owner: Owner): boolean => owner.namespace === null || owner.namespace === namespace()

/**
 * Whether the process of an owner of this boot may still run. When that cannot be known (another container) it counts as alive:
 * waiting costs a file, the opposite mistake costs an event.
 */
export function isAlive(owner: Owner): boolean {
  if (!isNeighbour(owner)) return true
  const found = processStat(owner.pid)
  // A zombie has closed its files already; only its parent has not read its exit code.
  if (found !== null)
    return found.state !== 'Z' && found.state !== 'X' && (owner.started === null || found.started === owner.started)
  // Not seen is not dead: /proc may hide the processes of other users.
  try {
    return kill(owner.pid, 0)
  } catch (error) {
    return errorCode(error) === 'EPERM'
  }
}

/**
 * Whether an owner may still run. Its socket decides where its number means nothing here. Containers of systemd and LXC show their
 * processes another boot than the machine's. A service with a separate `/proc` in such a container sees the machine's.
 * @param socket the path of a socket that is open while the owner runs; `undefined` where it has none
 */
export async function mayRun(owner: Owner, socket: string | undefined): Promise<boolean> {
  if (owner.boot !== null && owner.boot !== boot()) return socket !== undefined && (await isListening(socket)) === 'yes'
  if (!isAlive(owner)) return false
  // Without the start of the process, which macOS and Windows do not report, another one may have its number by now.
  const isKnown = isNeighbour(owner) && owner.started !== null
  return isKnown || socket === undefined || (await isListening(socket)) !== 'no'
}
