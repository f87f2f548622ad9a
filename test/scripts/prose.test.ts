import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { problemLine, problemsIn, problemsOfComments, problemsOfPage, problemsOfTitles, prosePages } from '../../scripts/prose.ts'

const root = join(import.meta.dirname, '..', '..')

test('the comments of sources, and the titles of tests, read at once', () => {
  const sources = globSync('{lib,adapters,daemon,bench,scripts,test}/**/*.ts', { cwd: root })
  expect(sources.length).toBeGreaterThan(300)
  expect(sources.flatMap((path) => problemsIn(path).map((problem) => problemLine(path, problem)))).toEqual([])
})

test.each(prosePages)('%s reads at once', (page) => {
  expect(problemsIn(page).map((problem) => problemLine(page, problem))).toEqual([])
})

const long = `Word${' word'.repeat(25)}.`

describe('a page', () => {
  test('has sentences of 25 words at most, wherever its lines break', () => {
    expect(problemsOfPage(`# Title\n\nShort.\n${long.replace(/(word ){5}/, '$&\n')}\n`)).toEqual([
      { line: 3, problem: '26 words, at most 25', sentence: long },
    ])
    expect(problemsOfPage(`${'word '.repeat(25)}.`)).toEqual([])
  })
  test('has list items, headings and paragraphs that end a sentence', () => {
    const half = 'word '.repeat(13).trim()
    expect(problemsOfPage(`## ${half}\n${half}\n\n- ${half}\n- ${half}\n1. ${half}\n\n${half}\n`)).toEqual([])
    expect(problemsOfPage(`- ${half}\n  ${half}\n`)).toHaveLength(1)
  })
  test('may have long lines of code, tables and comments', () => {
    expect(problemsOfPage(`<!-- ${long} -->\n| ${long} |\n|---|\n\n  \`\`\`sh\n  ${long}\n  \`\`\`\n`)).toEqual([])
  })
  test('counts inline code and a link as one word each', () => {
    const words = 'word '.repeat(23)
    expect(problemsOfPage(`${words}\`a b c d\` [two words](https://example.org/a).`)).toEqual([])
    expect(problemsOfPage(`${words}\`a b c d\` [two words](https://example.org/a) word.`)).toHaveLength(1)
  })
  test('uses none of the frames', () => {
    expect(problemsOfPage('The file stands in a directory.\n\nWhat is dead stays. What stays?').map(({ line }) => line)).toEqual([
      1, 3,
    ])
  })
})

test('comments of a source are read as a page is', () => {
  const source = `/** The relay knows it. */\nconst answer = 'What is said here is code.'\n// Who reads this\n// ${long}\n`
  expect(problemsOfComments(source).map(({ line, problem }) => [line, problem.split(':')[0]])).toEqual([
    [1, '"knows"'],
    [3, '29 words, at most 25'],
    [3, '"Who"'],
  ])
})

test('titles of tests are read as a page is, those of a list too', () => {
  const [framed, tooLong] = ['a relay knows it', `a relay has %s, and ${long}`]
  const source = [
    `const sentence = '${framed}'`,
    `test('${framed}', () => {})`,
    `describe.each([[f('${framed}')]])('${tooLong}', () => {`,
    `  expect('${framed}').toBe(1)`,
    "test('a relay has it', async () => {})",
  ]
  expect(problemsOfTitles(source.join('\n')).map(({ line, problem }) => [line, problem.split(':')[0]])).toEqual([
    [2, '"knows"'],
    [3, '31 words, at most 25'],
  ])
})

/** The anchor that a heading gets on the usual hosts of repositories. */
const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replace(/\s/g, '-')

test.each(prosePages)('every heading that %s links to is there', (page) => {
  const text = readFileSync(join(root, page), 'utf8').replace(/```.*?```/gs, '')
  const missing = [...text.matchAll(/\]\(([^)\s#:]*)#([^)\s]+)\)/g)].filter(([, file, anchor]) => {
    const path = file ? join(root, dirname(page), file) : join(root, page)
    const headings = existsSync(path) ? readFileSync(path, 'utf8').matchAll(/^#+ (.*)$/gm) : []
    return ![...headings].some(([, heading]) => anchorOf(heading ?? '') === anchor)
  })
  expect(missing.map(([link]) => link)).toEqual([])
})
