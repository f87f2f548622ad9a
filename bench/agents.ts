/** `npm run bench:agents`: whether an agent can do ten tasks with the tools, by what these say about themselves. */
import process from 'node:process'
import { evaluate } from './agents/play.ts'
import { optionsOf } from './support/options.ts'
import { printReport } from './support/report.ts'

const values = optionsOf(
  'npm run bench:agents',
  'Plays ten tasks of an admin with the tools for agents, each with the shortest calls that do it.',
  { json: { default: '', means: 'a file that gets all figures as JSON' } },
)
const { tools, characters, played } = await evaluate()
const rows = played.map(({ task, calls, characters, failed }) => [task, String(calls), String(characters), failed ?? 'done'])
const conditions = { tools, 'characters of their list': characters }
printReport(
  {
    conditions,
    tables: [
      { title: 'Each task, with its calls and the characters of their results', columns: ['', 'calls', 'characters', ''], rows },
    ],
  },
  values.json,
)
process.exitCode = played.some(({ failed }) => failed !== null) ? 1 : 0
