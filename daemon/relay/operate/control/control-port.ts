/** Where the control of a running relay is: commands on the same machine find it by a file next to its key. */
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { relayHome } from '../../ingest/outbox-address.ts'

const portPath = (outbox: string): string => join(relayHome(outbox), 'control.port')

/** Records the port of the control. Commands work without it, so a failure is ignored. */
export function announcePort(outbox: string, port: number): void {
  try {
    writeFileSync(portPath(outbox), `${port}\n`, { mode: 0o600 })
  } catch {
    // A full disk: commands act by themselves.
  }
}

export function withdrawPort(outbox: string): void {
  try {
    rmSync(portPath(outbox), { force: true })
  } catch {
    // Later requests to that port are not answered.
  }
}

/** Where the control of an outbox was last, and its key; undefined when either is missing. */
export function announcedControl(outbox: string): { readonly port: number; readonly key: string } | undefined {
  try {
    const port = Number(readFileSync(portPath(outbox), 'utf8'))
    const key = readFileSync(join(relayHome(outbox), 'control.key'), 'utf8').trim()
    return Number.isInteger(port) && port > 0 && port < 65_536 && key !== '' ? { port, key } : undefined
  } catch {
    return undefined
  }
}
