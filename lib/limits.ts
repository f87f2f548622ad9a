import { defaultTextLimits, type TextLimits } from './fields.ts'

/** Sizes and rates of a community. */
export interface Limits extends TextLimits {
  /** Maximum size of a JSON body, in bytes. */
  readonly bodyBytes: number
  /** Maximum size of an upload, in bytes. */
  readonly assetBytes: number
  /**
   * Maximum bytes in flight in the process, bodies and unsent responses together. One network gets half, or room for one upload
   * if that is more. Requests above it are a 503.
   */
  readonly inFlightBytes: number
  /** Requests per minute and key, by the network's plan; null: no limit. */
  readonly perMinute: { readonly standard: number | null; readonly premium: number | null; readonly unlimited: number | null }
}

export const defaultLimits: Limits = {
  ...defaultTextLimits,
  bodyBytes: 1024 * 1024,
  assetBytes: 25 * 1024 * 1024,
  inFlightBytes: 256 * 1024 * 1024,
  perMinute: { standard: 100, premium: 300, unlimited: null },
}
