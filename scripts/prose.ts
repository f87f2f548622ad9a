/**
 * Finds sentences that need a second reading: too long, or built on one of the frames below. `npx node scripts/prose.ts` lists them
 * for every page, with file and line; `npx node scripts/prose.ts FILE…` for some pages or sources. Of a source it reads the comments
 * and the titles of tests.
 */
import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** Most words of a sentence. Inline code and a link count as one word each. */
const wordsPerSentence = 25
/** Most words of a sentence on a page of `docs/decisions`, and in the changelog. */
const wordsPerSentenceInDecisions = 30

/** Frames that read well in German only, and better words for each. */
const frames: readonly (readonly [frame: RegExp, remedy: string])[] = [
  [/\bstands? (?:in|on|there|beside|before|behind)\b/i, '"is in", "contains"'],
  [/\b(?:go|goes|going|went) on\b/i, '"continues", "resumes"'],
  [/\bof (?:its|their|your|our|his|her|one's) own\b/i, '"its own …", or nothing'],
  [/\b(?:is|are|was|were) none\b/i, '"no …", "does not"'],
  [/^(?:Who|Whom|Whose|Whoever|What|Whatever)\b(?!.*\?$)/, 'begin with the subject, or with "if"'],
  [/[,;:] (?:who|whoever) (?:is|has|was|finds|wants|needs|comes|gets)\b/i, 'name the person first'],
  [/\b(?:says|knows|tells)\b/i, '"describes", "shows", "contains"'],
  [/\bin the place of\b/i, '"instead of"'],
  [/\btak(?:e|es|en|ing) over\b/i, '"ingest"'],
]

/** A sentence that is hard to read. */
export interface ProseProblem {
  /** Counted from 1. */
  readonly line: number
  readonly problem: string
  readonly sentence: string
}

interface Block {
  readonly line: number
  readonly text: string
}

/** Every sentence of a page in Markdown that has too many words or a frame above. */
export function problemsOfPage(markdown: string, words = wordsPerSentence): readonly ProseProblem[] {
  return blocksOfPage(markdown).flatMap((block) => problemsOf(block, words))
}

/** The same for the comments of a source in TypeScript. */
export function problemsOfComments(source: string, words = wordsPerSentence): readonly ProseProblem[] {
  return blocksOfComments(source).flatMap((block) => problemsOf(block, words))
}

/** The same for the titles of tests, which are the first argument of `test`, `describe` and what they return. */
export function problemsOfTitles(source: string, words = wordsPerSentence): readonly ProseProblem[] {
  const titles = source.matchAll(/(?:\b(?:test|describe)(?:\.\w+)*|\))\(\s*(['"`])((?:(?!\1)[^\\]|\\.)*)\1,\s*[\w({]/g)
  return [...titles].flatMap(({ index, 2: text = '' }) =>
    problemsOf({ line: source.slice(0, index).split('\n').length, text }, words),
  )
}

/** Paragraphs, headings and list items. Code, tables and HTML are left out. */
function blocksOfPage(markdown: string): readonly Block[] {
  const blocks: { line: number; text: string }[] = []
  let fence = ''
  let continued = false
  for (const [index, line] of markdown
    .replace(/<!--.*?-->/gs, blanked)
    .split('\n')
    .entries()) {
    const marker = /^\s*(```+|~~~+)/.exec(line)?.[1]
    const isFenced = fence !== '' || marker !== undefined
    if (marker !== undefined) fence = fence === '' ? marker : fence === marker ? '' : fence
    const begins = /^\s*(?:#+|[-*]|\d+\.)\s+/.exec(line)?.[0]
    const last = blocks.at(-1)
    if (isFenced || /^\s*(?:\||$)/.test(line)) continued = false
    else if (continued && begins === undefined && last) last.text += ` ${line.trim()}`
    else {
      blocks.push({ line: index + 1, text: line.slice(begins?.length ?? 0).trim() })
      continued = !line.startsWith('#')
    }
  }
  return blocks
}

const blanked = (text: string): string => text.replace(/[^\n]/g, '')

/** Comments, those in consecutive lines as one. Tags such as `@throws` begin a block. */
function blocksOfComments(source: string): readonly Block[] {
  const blocks: { line: number; text: string }[] = []
  let end = 0
  for (const [index, line] of source.split('\n').entries()) {
    const text = /^\s*(?:\/\*\*?|\*(?!\/)|\/\/)(.*?)(?:\*\/)?$/.exec(line)?.[1]?.trim()
    const last = blocks.at(-1)
    if (text === undefined || /^(?:biome-ignore|@ts-)/.test(text)) continue
    if (last && end === index && text !== '' && !/^\s*\/\*\*/.test(line) && !/^(?:[-*@|]|\d+\. )/.test(text))
      last.text = `${last.text} ${text}`.trim()
    else if (!text.startsWith('|')) blocks.push({ line: index + 1, text })
    end = text === '' && !/^\s*\/\*\*/.test(line) ? 0 : index + 1
  }
  return blocks
}

function problemsOf({ line, text }: Block, words: number): ProseProblem[] {
  return sentencesOf(text).flatMap((sentence) => {
    const count = sentence.split(/\s+/).filter((word) => /[\p{L}\p{N}…]/u.test(word)).length
    const met = frames.filter(([frame]) => frame.test(sentence))
    return [
      ...(count > words ? [`${count} words, at most ${words}`] : []),
      ...met.map(([frame, remedy]) => `"${frame.exec(sentence)?.[0]}": ${remedy}`),
    ].map((problem) => ({ line, problem, sentence }))
  })
}

/** The sentences of a block, with each piece of inline code and each link as one word. A dot in the middle separates items. */
function sentencesOf(text: string): readonly string[] {
  const plain = text
    .replace(/(`+)(?:(?!\1).)+\1/g, '`…`')
    .replace(/\[([^\]]*)\]\([^)]*\)/g, (_, label: string) => `[${label.trim().split(/\s+/).join('-')}]`)
    .replace(/<https?:[^>]*>/g, '<…>')
    .replace(/\*\*|\b_|_\b/g, '')
  return plain.split(/(?<=[.!?]["')”]?)\s+(?=["'(“]?[\p{Lu}\p{N}`[$])| · /u)
}

const root = new URL('../', import.meta.url)

/** Every page, from the root of the project. */
export const prosePages: readonly string[] = globSync(['*.md', 'docs/*.md', 'docs/decisions/*.md'], {
  cwd: fileURLToPath(root),
}).toSorted()

/** The problems of one page or source, at its path from the root of the project. */
export function problemsIn(path: string): readonly ProseProblem[] {
  const text = readFileSync(new URL(path, root), 'utf8')
  if (path.endsWith('.ts')) return [...problemsOfComments(text), ...(path.endsWith('.test.ts') ? problemsOfTitles(text) : [])]
  return problemsOfPage(text, /decisions|CHANGELOG/.test(path) ? wordsPerSentenceInDecisions : wordsPerSentence)
}

/** One line for people: place, problem and sentence. */
export const problemLine = (path: string, { line, problem, sentence }: ProseProblem): string =>
  `${path}:${line} ${problem}: ${sentence}`

if (import.meta.main) {
  const given = process.argv.slice(2)
  const lines = (given.length > 0 ? given : prosePages).flatMap((path) =>
    problemsIn(path).map((problem) => problemLine(path, problem)),
  )
  for (const line of lines) console.log(line)
  if (lines.length > 0) process.exitCode = 1
}
