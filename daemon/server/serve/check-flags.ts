/** What the flags of `serve` must keep to, before anything is opened. */
import { withoutPassword } from '../../../lib/base/without-password.ts'
import { isPublicUrl } from '../../../lib/options.ts'
import { encryptionKeysOf } from '../../read-encryption-keys.ts'
import { UsageError } from '../../usage.ts'
import { secretsOf } from '../credentials/secrets.ts'
import { type FaultPlan, planOf } from '../faults/plan.ts'
import type { ServeFlags } from './serve-flags.ts'

/** The flags, with what they name read from files and variables. */
export interface CheckedFlags {
  readonly flags: ServeFlags
  /** The keys of `--webhook-url`, in the same order. */
  readonly webhookTokens: readonly string[]
  readonly encryptionKeys: readonly string[]
  readonly faults: FaultPlan | undefined
}

/** @throws UsageError */
export function checkFlags(flags: ServeFlags): CheckedFlags {
  const webhookTokens = secretsOf('--webhook-token', flags.webhookToken, flags.webhookTokenFile)
  if (flags.webhookUrl.length !== webhookTokens.length)
    throw new UsageError('--webhook-url goes with --webhook-token or --webhook-token-file: give as many tokens as addresses')
  if (flags.publicUrl !== undefined && !isPublicUrl(flags.publicUrl))
    throw new UsageError(
      `--public-url must be like https://api.example.org, without a trailing slash, got ${JSON.stringify(withoutPassword(flags.publicUrl))}`,
    )
  if (flags.webhookOrder !== undefined && flags.webhookUrl.length === 0)
    throw new UsageError('--webhook-order needs --webhook-url')
  if (flags.webhookUrl.length > 0 && !flags.demo)
    throw new UsageError('--webhook-url registers endpoints of the demo network: add --demo')
  if (flags.relay && flags.relayControl !== undefined)
    throw new UsageError('--relay runs the relay in this process: leave out --relay-control, or --relay')
  if (flags.relayControlTokenFile !== undefined && flags.relayControl === undefined)
    throw new UsageError('--relay-control-token-file goes with --relay-control, the address of the control port')
  return { flags, webhookTokens, encryptionKeys: encryptionKeysOf(flags), faults: planOf(flags) }
}
