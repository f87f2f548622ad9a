/** Traces of the programs, with `--telemetry`. */
import type { Tracing } from '../lib/base/tracing.ts'
import { UsageError } from './usage.ts'

/** @throws UsageError that names the command, if the package is not installed */
export async function tracingFor(wanted: boolean | undefined): Promise<Tracing | undefined> {
  if (!wanted) return undefined
  const { isMissing, missingPackage } = await import('../adapters/optional-package.ts')
  const name = '@opentelemetry/api'
  if (isMissing(name)) throw new UsageError(missingPackage('--telemetry', name))
  const { openTelemetry } = await import('../adapters/telemetry/index.ts')
  return openTelemetry()
}
