import { expect, test } from 'vitest'
import { badRequest, conflict, invalid, isDeclared, notFound } from '../../lib/errors.ts'

test.each([
  [invalid('title'), [invalid('title', 'color')], true],
  [invalid('title', 'color'), [invalid('title'), invalid('color')], true],
  [invalid('role'), [invalid('id'), notFound('Member')], false],
  [invalid('title', 'color'), [invalid('title')], false],
  [notFound('Tag'), [notFound('Tag')], true],
  [notFound('Tag'), [notFound('Member')], false],
  [badRequest('when must be now, got "x"'), [badRequest('when must be now')], true],
  [conflict('closed'), [badRequest('closed')], false],
])('a failure is declared by its status and its fields, or the record: %j', (failure, declared, response) => {
  expect(isDeclared(failure, declared)).toBe(response)
})
