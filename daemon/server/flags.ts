import type { Endpoint } from '../../lib/index.ts'
import type { EncryptionFlags } from '../encryption-keys.ts'

/** The flags of `serve`. */
export interface ServeFlags extends EncryptionFlags {
  readonly port: number
  readonly host: string
  readonly storage: string
  readonly outbox?: string
  /** Where uploads are kept. */
  readonly assets?: string
  /** The origin that callers see, where a proxy hides ours. */
  readonly publicUrl?: string
  readonly allowHttp?: boolean
  readonly trustProxy?: boolean
  readonly tlsCert?: string
  readonly tlsKey?: string
  readonly ids?: 'number' | 'string'
  /** New members have consented to commercial e-mail. */
  readonly emailConsent?: boolean
  readonly demo?: boolean
  readonly relay?: boolean
  readonly webhookUrl: readonly string[]
  readonly webhookKey: readonly string[]
  readonly webhookKeyFile: readonly string[]
  readonly webhookOrder?: Endpoint['order']
  readonly metricsPort?: number
  readonly accessLog?: boolean
  readonly json?: boolean
}
