/** The options of `serve`. Each is named once: the key gives its flag, and the entry its help and the type of its value. */
import { type Command, Option } from 'commander'
import { orders } from '../../../lib/outbox/values.ts'
import type { EncryptionFlags } from '../../encryption-keys.ts'
import { list, port } from '../commands/common-options.ts'
import type { StorageFlags } from '../commands/operator.ts'
import { faultKinds } from '../faults/kinds.ts'

/** An option without its name. Its value is `undefined` if it may be left out. */
interface Flag<Value> {
  /** The placeholder of the value in the help; `''` if there is no value. */
  readonly takes: string
  readonly about: string
  /** @param flag the name on the command line, for messages */
  readonly finish: (option: Option, flag: string) => Option
  /** Types only; never set. */
  readonly '~value'?: { readonly value: Value }
}

const made = <Value>(takes: string, about: string, finish: Flag<Value>['finish'] = (option) => option): Flag<Value> => ({
  takes,
  about,
  finish,
})
const onOff = (about: string) => made<boolean | undefined>('', about)
const text = (takes: string, about: string) => made<string | undefined>(takes, about)
const texts = (takes: string, about: string) =>
  made<readonly string[]>(takes, about, (option) => option.argParser(list).default([]))
const oneOf = <Text extends string>(takes: string, about: string, choices: readonly Text[]) =>
  made<Text | undefined>(takes, about, (option) => option.choices(choices))
const portNumber = (about: string) => made<number | undefined>('<number>', about, (option, flag) => option.argParser(port(flag)))
const withDefault = <Value>({ takes, about, finish }: Flag<Value | undefined>, value: Value) =>
  made<Value>(takes, about, (option, flag) => finish(option, flag).default(value))

/** In the order of the help. */
const serveFlags = {
  json: onOff('print one line of JSON for programs; later lines on standard error are JSON, too'),
  port: withDefault(portNumber('the port; 0 takes a free one'), 4000),
  host: withDefault(text('<address>', 'the address to listen on'), '127.0.0.1'),
  assets: text('<directory>', 'the directory of uploads; by default ./assets, or next to the file of the storage'),
  publicUrl: text('<origin>', 'the origin that callers use, such as https://api.example.org, for links and uploads'),
  allowHttp: onOff('accept plain HTTP: for development; with --demo, webhooks and source_url reach this machine, too'),
  trustProxy: onOff('believe X-Forwarded-Proto and X-Forwarded-Host: only behind a proxy that sets them'),
  tlsCert: text('<file>', 'certificate, PEM'),
  tlsKey: text('<file>', "the certificate's key, PEM"),
  ids: oneOf('<type>', 'the JSON type of ids in responses and webhooks', ['string', 'number']),
  emailConsent: onOff('new members have consented to commercial e-mail; without consent addresses stay hidden'),
  accessLog: onOff('a line of JSON for each request, without tokens, queries and bodies'),
  metricsPort: portNumber('metrics for Prometheus on this port of 127.0.0.1'),
  telemetry: onOff('trace requests, transactions and attempts by OpenTelemetry, with the SDK that node --import has registered'),
  demo: onOff('make the demo network and a token; the token of the previous start stops working'),
  relay: onOff('run the webhook relay in this process'),
  relayControl: text('<url>', 'the control port of a relay on this machine, such as http://127.0.0.1:9464: for the panel'),
  relayControlTokenFile: text('<file>', 'the file with the token of that control port; by default the one next to the outbox'),
  webhookUrl: texts('<url>', 'an endpoint of the demo network; repeatable, each with a key'),
  webhookToken: texts('<token>', 'the bearer token that it gets; better in a file'),
  webhookTokenFile: texts('<file>', 'a file that holds the token; - is standard input'),
  webhookOrder: oneOf('<order>', 'the order in which these endpoints get their events', orders),
  fault: texts('<fault>', `a fault and its probability, such as 429:0.1; repeatable: ${Object.keys(faultKinds).join(', ')}`),
  latency: text('<ms>', 'milliseconds that each request waits, such as 50-200 or 100'),
  seed: text('<text>', 'the seed of --fault and --latency: the same seed, the same faults'),
}

type Flags = typeof serveFlags
type Value<Name extends keyof Flags> = Flags[Name] extends Flag<infer Of> ? Of : never
type Optional = { [Name in keyof Flags]: undefined extends Value<Name> ? Name : never }[keyof Flags]

export type ServeFlags = EncryptionFlags &
  Pick<StorageFlags, 'storage' | 'outbox'> & { readonly [Name in Exclude<keyof Flags, Optional>]: Value<Name> } & {
    readonly [Name in Optional]?: Exclude<Value<Name>, undefined>
  }

/** Adds the options, such as `--public-url <origin>` of `publicUrl`. */
export function withServeFlags(command: Command): Command {
  for (const [name, { takes, about, finish }] of Object.entries(serveFlags)) {
    const flag = `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`
    command.addOption(finish(new Option(`${flag} ${takes}`.trim(), about), flag))
  }
  return command
}
