/** The settings of a running relay, for commands on the same machine: a file next to its control token. */
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { pid } from 'node:process'
import { makeDirectory } from '../../../../adapters/files/directory.ts'
import type { RunningRelay } from '../../../../lib/relay/relay-admin.ts'
import { relayHome } from '../../ingest/outbox-address.ts'
import { shownProxy } from '../../send/proxy.ts'
import { checkSettings, type Settings } from '../../settings.ts'

const pathOf = (outbox: string): string => join(relayHome(outbox), 'settings.json')

/** Notes the settings of this relay, with the port of its control. It works without that, so a failure is ignored. */
export function noteSettings(outbox: string, settings: Settings): void {
  try {
    makeDirectory(relayHome(outbox))
    // A proxy may have a password.
    const proxy = settings.proxy === undefined ? {} : { proxy: shownProxy(settings.proxy) }
    const noted = { host: hostname(), pid, ...settings, ...proxy }
    writeFileSync(pathOf(outbox), `${JSON.stringify(noted)}\n`, { mode: 0o600 })
  } catch {
    // A full disk: `check` judges by its own flags, and `config` says that they are not known.
  }
}

export function withdrawSettings(outbox: string): void {
  try {
    rmSync(pathOf(outbox), { force: true })
  } catch {
    // It names a process that has ended, so it no longer applies.
  }
}

/** The settings of a relay that runs, if it has noted them here; its proxy is without a password. */
export function notedSettings(outbox: string, relays: readonly RunningRelay[]): Settings | undefined {
  try {
    const {
      host,
      pid: writer,
      ...settings
    } = JSON.parse(readFileSync(pathOf(outbox), 'utf8')) as Readonly<Record<string, unknown>>
    return relays.some((relay) => relay.host === host && relay.pid === writer) ? checkSettings(settings) : undefined
  } catch {
    return undefined
  }
}
