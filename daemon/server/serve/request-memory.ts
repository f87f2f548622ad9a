/** How much of the memory requests may take. */
import { totalmem } from 'node:os'
import { constrainedMemory } from 'node:process'
import { defaultLimits } from '../../../lib/limits.ts'

/** Bytes that this process may use: those of the machine, or of its container if that has fewer. */
const availableMemory = (): number => Math.min(totalmem(), constrainedMemory() || Number.POSITIVE_INFINITY)

/**
 * The limit `inFlightBytes` for a process with so much memory: a quarter of it, because an upload briefly needs up to four times its
 * size. At least one upload fits.
 */
export function inFlightBytesFor(memory: number = availableMemory()): number {
  const { assetBytes, bodyBytes, inFlightBytes } = defaultLimits
  return Math.min(inFlightBytes, Math.max(assetBytes + bodyBytes, Math.floor(memory / 4)))
}
