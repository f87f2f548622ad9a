/** The sentences of commands, which may hold names of another server. */
import { expect, test } from 'vitest'
import { showOne } from '../../../daemon/server/commands/show.ts'

test('control characters of a name reach no terminal, and lines stay lines', () => {
  const lines: string[] = []
  const out = { line: (text: string) => void lines.push(text), warn: () => {} }
  showOne(out, { storage: 'memory:' }, {}, 'Network \u001b]0;mine\u0007 is changed.\nOnce.')
  expect(lines).toEqual(['Network ?]0;mine? is changed.\nOnce.'])
})
