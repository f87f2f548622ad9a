/** Options that several commands share. */
import type { Command, Option } from 'commander'
import { withEncryptionKeys } from '../../encryption-keys.ts'
import { UsageError } from '../../usage.ts'
import { variableOption } from '../../variables.ts'

/** The forms of `--storage`, for help and messages. */
export const storageForms = 'lowdb:PATH, memory:, sqlite:PATH or postgres://…'

const defaultStorage = 'lowdb:./data/db.json'

/** Gathers an option that may be given as often as wanted. */
export const list = (value: string, before: readonly string[] = []): readonly string[] => [...before, value]

/** A port's number. @throws UsageError */
export const port =
  (option: string) =>
  (text: string): number => {
    const number = Number(text)
    if (!/^\d{1,5}$/.test(text) || number > 65_535)
      throw new UsageError(`${option} must be a number from 0 to 65535, got ${JSON.stringify(text)}`)
    return number
  }

export const withPlace = (command: Command): Command =>
  command
    .addOption(
      variableOption('--storage <address>', `${storageForms}; its password may be in PGPASSWORD`).default(defaultStorage),
    )
    .addOption(variableOption('--outbox <directory>', 'the outbox of lowdb and memory; next to the file by default'))

export const withStorage = (command: Command): Command => withEncryptionKeys(withPlace(command))

export const networkOption = (about: string): Option => variableOption('--network <id or subdomain>', about)

/** For commands that work on a storage or on the server that holds it. */
export const onStorage = (command: Command): Command =>
  withStorage(command)
    .addOption(
      variableOption('--server <file>', 'a running server, by the `control` that serve --json prints, instead of a storage'),
    )
    .option('--json', 'JSON for programs: a list is one object per line')

export const onNetwork = (command: Command): Command =>
  onStorage(command).addOption(networkOption('the network; optional if there is only one'))

export const changing = (command: Command): Command =>
  command.option('--preview', 'show what it would change, and change nothing')

export const wide = (command: Command): Command => command.option('--wide', 'all columns, nothing shortened, times as ISO 8601')

/** A duration as seconds: `30m`, `24h`, `7d`, or a number of seconds. @throws UsageError */
export const seconds =
  (option: string) =>
  (text: string): number => {
    const [, number, unit = 's'] = /^(\d{1,9})([smhd])?$/.exec(text) ?? []
    if (number === undefined) throw new UsageError(`${option} must be like 30m, 24h or 7d, got ${JSON.stringify(text)}`)
    return Number(number) * ({ s: 1, m: 60, h: 3600, d: 86_400 }[unit] ?? 1)
  }
