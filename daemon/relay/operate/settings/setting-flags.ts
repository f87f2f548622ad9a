/** The settings that have a flag, and how its text is read. Light, so that help comes without delay. */
import { type Command, Option } from 'commander'
import { UsageError } from '../../../usage.ts'
import { variableOption } from '../../../variables.ts'
import type { Settings } from '../../settings.ts'

interface SettingFlag<Value> {
  readonly option: Option
  readonly read: (given: string | boolean) => Value
}

/** Seconds, fractions allowed. */
const secondsOf =
  (flag: string) =>
  (given: string | boolean): number => {
    const text = String(given)
    const value = text.trim() === '' ? Number.NaN : Number(text)
    if (!Number.isFinite(value) || value < 0) throw new UsageError(`${flag} takes seconds, got ${JSON.stringify(text)}`)
    return value
  }

const seconds = (flag: string, about: string): SettingFlag<number> => ({
  option: new Option(`${flag} <seconds>`, about),
  read: secondsOf(flag),
})

const onOff = (flag: string, about: string): SettingFlag<boolean> => ({ option: new Option(flag, about), read: Boolean })

function portOf(given: string | boolean): number {
  const port = Number(given)
  if (/^\d+$/.test(String(given)) && port <= 65_535) return port
  throw new UsageError(`--control-port takes a port, got ${JSON.stringify(given)}`)
}

/** By setting. A flag goes before the file of `--config`. */
const settingFlags: { readonly [Name in keyof Settings]?: SettingFlag<Settings[Name]> } = {
  retrySchedule: {
    option: new Option('--retry-schedule <seconds>', 'delays before each attempt, separated by commas'),
    read: (given) => String(given).split(',').map(secondsOf('--retry-schedule')),
  },
  timeout: seconds('--timeout', 'time limit of an attempt'),
  maxConnectionAge: seconds('--max-connection-age', 'reuse a connection for at most this long'),
  breakerCooldown: seconds('--breaker-cooldown', 'time from the opening of a circuit to its first probe'),
  lease: seconds('--lease', 'how long a relay keeps its endpoints without a heartbeat, if several share a database'),
  allowHttp: onOff('--allow-http', 'allow http: URLs'),
  allowPrivate: onOff('--allow-private', 'allow private and loopback addresses, for development'),
  allowAddresses: {
    option: new Option('--allow-addresses <ranges>', 'also allow these addresses, separated by commas: 10.0.3.5,10.0.3.0/24'),
    read: (given) => String(given).split(','),
  },
  proxy: {
    option: variableOption('--proxy <url>', 'send through this HTTP proxy; put one with a password into the variable'),
    read: String,
  },
  // Its value is the variable's content, which `handOverNoProxy` gives it.
  noProxy: {
    option: new Option('--use-no-proxy', 'reach the hosts in the variable NO_PROXY without the proxy'),
    read: String,
  },
  sourceAddress: {
    option: new Option('--source-address <ip>', 'connect from this address of this machine'),
    read: String,
  },
  clientIdentities: {
    option: new Option(
      '--client-identities <file>',
      'client certificates and private authorities that endpoints name: a JSON file',
    ),
    read: String,
  },
  controlPort: {
    option: new Option('--control-port <port>', 'health, metrics and control on this port of the loopback address'),
    read: portOf,
  },
  telemetry: onOff('--telemetry', 'trace attempts by OpenTelemetry, with the SDK that node --import has registered'),
}

/** The flag of a setting, as people type it. */
export const flagOf = (name: string): string => `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`

export type SettingTexts = { readonly [Name in keyof Settings]?: string | boolean }

export function withSettingFlags(command: Command): Command {
  for (const flag of Object.values(settingFlags)) command.addOption(flag.option)
  return command
}

/** Hands the variable to each command with `--use-no-proxy`: without the flag it does not count. */
export function handOverNoProxy(program: Command, variable = ''): void {
  program.hook('preAction', (_, command) => {
    if (command.getOptionValue('useNoProxy') === true) command.setOptionValueWithSource('noProxy', variable, 'env')
  })
}

/** The settings that the flags name, and no others. @throws UsageError */
export const flaggedSettings = (texts: SettingTexts): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    Object.entries(settingFlags).flatMap(([name, { read }]) => {
      const text = texts[name as keyof Settings]
      return text === undefined ? [] : [[name, read(text)]]
    }),
  )
