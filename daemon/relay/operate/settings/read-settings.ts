/** The relay's settings from its command line and its configuration file. */
import { readFile } from 'node:fs/promises'
import { errorCode } from '../../../../adapters/files/errors.ts'
import { isObject } from '../../../../lib/base/json-object.ts'
import type { EncryptionFlags } from '../../../encryption-keys.ts'
import { about, UsageError } from '../../../usage.ts'
import { unknownKind } from '../../ingest/outbox-address.ts'
import { checkSourceAddress } from '../../send/source-address.ts'
import { readTlsFiles } from '../../send/tls-files.ts'
import { checkSettings, type Settings, SettingsError } from '../../settings.ts'
import { flaggedSettings, flagOf, type SettingTexts } from './setting-flags.ts'

export interface SettingFlags extends EncryptionFlags, Omit<SettingTexts, 'encryptionKeyFile'> {
  readonly config?: string
}

async function readConfig(path: string): Promise<Readonly<Record<string, unknown>>> {
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    throw new UsageError(`--config ${path} cannot be read: ${errorCode(error) || 'it is not a text file'}`)
  })
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    // The parser quotes the text around the mistake, which may be a secret and several lines long. So only the position is
    // reported.
    const place = /\((line \d+ column \d+)\)$/.exec(error instanceof Error ? error.message : '')?.[1]
    throw new UsageError(`--config ${path} is not JSON${place === undefined ? '' : ` (${place})`}`)
  }
  if (!isObject(value)) throw new UsageError(`--config ${path} must hold one JSON object`)
  return value
}

/**
 * Settings: the defaults, over them the file, over it the flags.
 * @throws UsageError naming every problem
 */
export async function readSettings(flags: SettingFlags): Promise<Settings> {
  const { file, flagged } = await givenSettings(flags)
  try {
    const settings = checkSettings({ ...file, ...flagged })
    await checkSourceAddress(settings)
    readTlsFiles(settings.clientIdentities)
    return settings
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error
    const { message } = error
    const named = Object.keys(flagged).filter((name) => message.includes(`\`${name}\``))
    throw about(new UsageError(flags.config === undefined ? message : `--config ${flags.config}: ${message}`), ...named)
  }
}

async function givenSettings(flags: SettingFlags) {
  const { config, encryptionKeyFile } = flags
  const file = config === undefined ? {} : await readConfig(config)
  const keyFile = encryptionKeyFile === undefined ? {} : { encryptionKeyFile }
  return { file, flagged: { ...flaggedSettings(flags), ...keyFile } }
}

/** Where each setting comes from: a flag or a file; missing for a default. */
export type SettingSources = Readonly<Record<string, string>>

/** @throws UsageError when the file cannot be read */
export async function settingSources(flags: SettingFlags): Promise<SettingSources> {
  const { file, flagged } = await givenSettings(flags)
  const by = (names: object, source: (name: string) => string) => Object.keys(names).map((name) => [name, source(name)])
  return Object.fromEntries([...by(file, () => flags.config ?? ''), ...by(flagged, flagOf)])
}

/**
 * The outbox that `--outbox` names: a directory, `sqlite:PATH` or `postgres://…`.
 * @throws UsageError for an outbox that this relay cannot read
 */
export function outboxOf(address: string | undefined): string {
  if (address === undefined || address === '')
    throw new UsageError('--outbox is missing: give the address that the API server prints as `outbox`, or set FOLKMOOT_OUTBOX')
  const problem = unknownKind(address)
  if (problem !== undefined) throw about(new UsageError(`--outbox ${problem}`), 'outbox')
  return address
}
