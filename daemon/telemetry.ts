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

/** What to do about a process that traces into nothing, or undefined if an SDK is registered there. */
export async function missingSdk(): Promise<string | undefined> {
  const { ProxyTracerProvider, trace } = await import('@opentelemetry/api')
  const provider = trace.getTracerProvider()
  // Until an SDK registers, the global provider stands for the one that does nothing.
  const isRegistered =
    !(provider instanceof ProxyTracerProvider) || provider.getDelegate() !== new ProxyTracerProvider().getDelegate()
  const remedy = 'register one in a file of your own, and load it by node --import ./instrumentation.js'
  return isRegistered ? undefined : `--telemetry records nothing, because no OpenTelemetry SDK is registered: ${remedy}`
}
