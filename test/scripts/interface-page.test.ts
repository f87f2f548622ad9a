/** `docs/interface.md`: its rules are numbered without gaps, each names tests that are there, and what is cited is a rule. */
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

const page = readFileSync('docs/interface.md', 'utf8')
const sections = [...page.matchAll(/^## (\d+) /gm)].map(([, number]) => Number(number))
const rules = [...page.matchAll(/^\| (\d+)\.(\d+) \| (.+) \| `([^`]+)` \|$/gm)].map(
  ([, section, rule, text = '', file = '']) => ({
    ...{ section: Number(section), rule: Number(rule), text, file },
  }),
)

test('sections and rules are numbered from 1, without a gap', () => {
  expect(sections).toEqual(sections.map((_, at) => at + 1))
  for (const section of sections) {
    const numbers = rules.filter((each) => each.section === section).map(({ rule }) => rule)
    expect(numbers).toEqual(numbers.map((_, at) => at + 1))
    expect(numbers.length).toBeGreaterThan(0)
  }
  expect(rules.length).toBe(page.match(/^\| \d/gm)?.length)
})

test('every rule names a test that is there', () => {
  expect(rules.filter(({ file }) => !file.endsWith('.test.ts') || !existsSync(file))).toEqual([])
})

/** The lines of the sources that match; git searches a checkout faster than reading every file does. */
const grep = (pattern: string): string =>
  spawnSync('git', ['grep', '-hiE', pattern, '--', 'lib', 'adapters', 'daemon', 'test'], { encoding: 'utf8' }).stdout

test('whatever the sources cite is a rule or a section of the page', () => {
  const known = new Set([...sections.map(String), ...rules.map(({ section, rule }) => `${section}.${rule}`)])
  const cited = [...grep('interface\\.md').matchAll(/interface\.md, (\d[\d., and to]*\d|\d)/g)].flatMap(
    ([, numbers = '']) => numbers.match(/\d+(?:\.\d+)?/g) ?? [],
  )
  expect(cited.length).toBeGreaterThan(40)
  expect(cited.filter((number) => !known.has(number))).toEqual([])
})

test('no source cites sections of a document that is not in the repository', () => {
  expect(grep('specification, (section|part) ?[0-9]')).toBe('')
})
