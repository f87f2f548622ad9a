/** `folkmoot-relay config`: the settings that a relay would run with here, and where each comes from. */
import { encryptionKeysVariable } from '../../../encryption-keys.ts'
import { jsonLines } from '../../../json.ts'
import { encryptionKeysOf } from '../../../read-encryption-keys.ts'
import { table } from '../../../table.ts'
import { systemClock } from '../../clock.ts'
import { shownProxy } from '../../send/proxy.ts'
import { type Settings, settingRules } from '../../settings.ts'
import { readSettings, type SettingFlags, type SettingSources, settingSources } from '../settings/read-settings.ts'

export interface ConfigFlags extends SettingFlags {
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
}

/** @throws UsageError naming every problem of the settings */
export async function config({ json, wide, width, variables = {}, ...flags }: ConfigFlags): Promise<string> {
  const sources = { ...(await settingSources(flags)), ...variables }
  const settings = await readSettings(flags)
  const lines = Object.keys(settingRules).map((name) => lineOf(name as keyof Settings, settings, sources))
  const all = [...lines, encryptionKeyLine(flags, settings)]
  if (json) return jsonLines(all)
  const columns = [
    { title: 'setting', cell: ({ setting }: Line) => setting, fits: 'whole' as const },
    { title: 'value', cell: ({ value }: Line) => (value === null ? null : text(value)), fits: 'wrap' as const },
    { title: 'from', cell: ({ from }: Line) => from },
  ]
  return table(columns, all, { empty: '', now: systemClock.now(), wide, width })
}

function lineOf(name: keyof Settings, settings: Settings, sources: SettingSources): Line {
  const source = sources[name]
  // It follows from the time-out, so it is not a fixed default.
  const byDefault = name === 'lease' ? 'default, by timeout' : 'default'
  return { setting: name, value: shown(name, settings[name]), from: source ?? byDefault }
}

/** A setting without what only the relay may read. */
function shown(name: keyof Settings, value: unknown): unknown {
  if (value === undefined) return null
  if (name === 'ca') return `${String(value).split('-----BEGIN CERTIFICATE-----').length - 1} certificates`
  return name === 'proxy' ? shownProxy(String(value)) : value
}

const text = (value: unknown): string => {
  if (Array.isArray(value)) return value.length > 0 ? value.map(text).join(',') : 'none'
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

function encryptionKeyLine(flags: SettingFlags, settings: Settings): Line {
  const keys = encryptionKeysOf({ ...flags, ...settings })
  const from = settings.encryptionKeyFile ?? encryptionKeysVariable
  const value = keys.length === 1 ? '1 key' : `${keys.length} keys`
  return { setting: 'encryption keys', value: keys.length === 0 ? null : value, from: keys.length === 0 ? 'default' : from }
}
