/** `folkmoot-relay config`: the settings that a relay would run with here and where each comes from, next to those of a running one. */

import { counted } from '../../../../lib/base/counted.ts'
import type { RunningRelay } from '../../../../lib/relay/relay-admin.ts'
import { encryptionKeysVariable } from '../../../encryption-keys.ts'
import { jsonLines, plain } from '../../../json.ts'
import { encryptionKeysOf } from '../../../read-encryption-keys.ts'
import { table } from '../../../table.ts'
import { NoRelayYet } from '../../../usage.ts'
import { systemClock } from '../../clock.ts'
import { openOperatorStore } from '../../open-store.ts'
import { shownProxy } from '../../send/proxy.ts'
import { type Settings, settingRules } from '../../settings.ts'
import { outboxOf, readSettings, type SettingFlags, type SettingSources, settingSources } from '../settings/read-settings.ts'
import { notedSettings } from '../settings/settings-note.ts'

export interface ConfigFlags extends SettingFlags {
  /** Where a running relay is looked for. */
  readonly outbox?: string
  readonly json?: boolean
  readonly wide?: boolean
  readonly width?: number | undefined
  /** The variables of the environment that gave flags, by setting. */
  readonly variables?: Readonly<Record<string, string>>
}

interface Line {
  readonly setting: string
  /** As in the file of `--config`; null: not set. Certificates and passwords are not shown. */
  readonly value: unknown
  readonly from: string
  /** The value in the running relay, if its settings are known here. */
  readonly running?: unknown
}

/** @throws UsageError naming every problem of the settings */
export async function config({ json, wide, width, outbox, variables = {}, ...flags }: ConfigFlags): Promise<string> {
  const sources = { ...(await settingSources(flags)), ...variables }
  const settings = await readSettings(flags)
  const { inForce, sentence } = outbox === undefined ? notLookedFor : await runningOn(outboxOf(outbox))
  const lines = Object.keys(settingRules).map((name) => lineOf(name as keyof Settings, settings, sources, inForce))
  const all = [...lines, encryptionKeyLine(flags, settings)]
  if (json) return jsonLines(all)
  const columns = [
    { title: 'setting', cell: ({ setting }: Line) => setting, fits: 'whole' as const },
    { title: 'value', cell: ({ value }: Line) => text(value), fits: 'wrap' as const },
    { title: 'from', cell: ({ from }: Line) => from },
  ]
  const running = { title: 'running', cell: (line: Line) => ('running' in line ? text(line.running) : 'not known') }
  const shownColumns = inForce ? [...columns, { ...running, fits: 'wrap' as const }] : columns
  return `${table(shownColumns, all, { empty: '', now: systemClock.now(), wide, width })}${sentence}\n`
}

interface Running {
  readonly inForce?: Settings | undefined
  readonly sentence: string
}

const notLookedFor: Running = { sentence: 'A running relay has its own settings: --outbox shows them.' }

async function runningOn(outbox: string): Promise<Running> {
  const relays = await relaysOf(outbox)
  if (relays.length === 0) return { sentence: 'No relay is running on this outbox.' }
  const inForce = notedSettings(outbox, relays)
  const which = relays.map(({ host, pid }) => plain(`process ${pid} on ${host}`)).join(', ')
  const what = inForce
    ? 'with the settings of the column `running`: it takes others when it starts, and at SIGHUP those of --config'
    : 'with settings that are not known here'
  return { inForce, sentence: `A relay is running (${which}), ${what}.` }
}

async function relaysOf(outbox: string): Promise<readonly RunningRelay[]> {
  try {
    const store = await openOperatorStore(outbox, true)
    return await store.relays().finally(() => store.close())
  } catch (error) {
    if (error instanceof NoRelayYet) return []
    throw error
  }
}

function lineOf(name: keyof Settings, settings: Settings, sources: SettingSources, inForce: Settings | undefined): Line {
  const source = sources[name]
  // It follows from the time-out, so it is not a fixed default.
  const byDefault = name === 'lease' ? 'default, by timeout' : 'default'
  const line = { setting: name, value: shown(name, settings[name]), from: source ?? byDefault }
  return inForce ? { ...line, running: shown(name, inForce[name]) } : line
}

/** A setting without what only the relay may read. */
function shown(name: keyof Settings, value: unknown): unknown {
  if (value === undefined) return null
  if (name === 'ca') return `${String(value).split('-----BEGIN CERTIFICATE-----').length - 1} certificates`
  return name === 'proxy' ? shownProxy(String(value)) : value
}

/** A value as a cell; null where there is none. */
function text(value: unknown): string | null {
  if (value === null || value === '') return null
  if (Array.isArray(value)) return value.length > 0 ? value.join(',') : null
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

function encryptionKeyLine(flags: SettingFlags, settings: Settings): Line {
  const keys = encryptionKeysOf({ ...flags, ...settings })
  const from = settings.encryptionKeyFile ?? encryptionKeysVariable
  const value = counted(keys.length, 'key')
  return { setting: 'encryption keys', value: keys.length === 0 ? null : value, from: keys.length === 0 ? 'default' : from }
}
