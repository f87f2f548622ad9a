import { expect, test } from 'vitest'
import { type Filter, filterProblem, matchesFilter } from '../../../lib/outbox/filter.ts'
import { requiresOf } from '../../../lib/outbox/requires.ts'

const payload = {
  id: 7,
  space_id: '2001',
  pinned: false,
  topic: null,
  tags: ['oil', 'ink'],
  'a/b': { '~': 1 },
  author: { id: '1001' },
  members: [{ id: '1' }, { id: '2' }],
}

test.each<readonly [Filter, boolean]>([
  [{ path: '/space_id', equals: 2001 }, true],
  [{ path: '/id', equals: '7' }, true],
  [{ path: '/id', in: ['6', 7] }, true],
  [{ path: '/id', in: ['6', '70'] }, false],
  [{ path: '/pinned', equals: false }, true],
  [{ path: '/pinned', equals: 'false' }, false],
  [{ path: '/topic', equals: null }, true],
  [{ path: '/topic', exists: true }, true],
  [{ path: '/none', exists: false }, true],
  [{ path: '/none', equals: null }, false],
  [{ path: '/toString', exists: true }, false],
  [{ path: '/space_id', prefix: '20' }, true],
  [{ path: '/pinned', prefix: 'f' }, false],
  [{ path: '/tags', equals: 'ink' }, true],
  [{ path: '/tags/0', equals: 'ink' }, false],
  [{ path: '/tags/2', exists: true }, false],
  [{ path: '/members/id', equals: '2' }, true],
  [{ path: '/a~1b/~0', equals: 1 }, true],
  [{ path: '', exists: true }, true],
  [{ not: { path: '/author/id', equals: '1001' } }, false],
  [{ any: [{ path: '/id', equals: 8 }, { all: [{ path: '/author/id', prefix: '10' }] }] }, true],
])('%j is %s for a payload', (filter, expected) => {
  expect(filterProblem(filter)).toBeUndefined()
  expect(matchesFilter(filter, payload)).toBe(expected)
  expect(matchesFilter(filter, undefined)).toBe(matchesFilter(filter, 'no object'))
})

test.each<readonly [Filter, readonly string[], boolean]>([
  [{ changed: ['role'] }, ['email', 'role'], true],
  [{ changed: ['role', 'email'] }, ['email'], true],
  [{ changed: ['role'] }, ['email'], false],
  [{ changed: ['role'] }, [], false],
  [{ not: { changed: ['role'] } }, ['role'], false],
  [{ any: [{ changed: ['role'] }, { path: '/id', equals: 7 }] }, [], true],
  [{ all: [{ changed: ['role'] }, { path: '/id', equals: 7 }] }, ['role'], true],
])('%j, where %j changed, is %s', (filter, changed, expected) => {
  expect(filterProblem(filter)).toBeUndefined()
  expect(matchesFilter(filter, payload, changed)).toBe(expected)
  expect(
    requiresOf({ headers: null, filter, allow_addresses: null, client_identity: null, ca: null, format: null, key: 'k' }),
  ).toEqual(['filter', 'filter-changed'])
})

const condition = { path: '/id', equals: 1 }
const nested = (levels: number): object => (levels === 0 ? condition : { not: nested(levels - 1) })

test.each<readonly [unknown, string]>([
  [[], 'must be an object'],
  [{}, 'must have one of all, any, not and changed'],
  [{ all: [] }, 'at all must be a list of 1 to 20 conditions'],
  [{ all: [condition, { any: [{ path: 'id', equals: 1 }] }] }, 'at all[1].any[0].path must be a JSON pointer'],
  [{ path: '/~2', equals: 1 }, 'at path must be a JSON pointer'],
  [{ path: '/id', equals: {} }, 'at equals must be a text'],
  [{ not: { path: '/id', in: [] } }, 'at not.in must be a list'],
  [{ path: '/id', exists: 'yes' }, 'at exists must be true or false'],
  [{ path: '/id', equals: 1, prefix: '1' }, 'must have one of'],
  [{ path: '/id', matches: '1' }, 'must have one of'],
  [{ path: '/id', matches: '1' }, 'equals, in, exists and prefix; "matches" is none of them'],
  [{ pth: '/id', equals: 1 }, 'equals, in, exists and prefix; "pth" is none of them, did you mean path?'],
  [{ path: '/id', equals: 1, equal: 2 }, '; "equal" is none of them, did you mean equals?'],
  [{ all: [{ path: '/id', Equals: 1 }] }, 'at all[0] must have one of all, any, not and changed, or a path and one of equals'],
  [{ all: [{ path: '/id', Equals: 1 }] }, '; "Equals" is none of them, did you mean equals?'],
  [{ ALL: [condition] }, '; "ALL" is none of them, did you mean all'],
  [{ ['x'.repeat(1000)]: 1 }, `; "${'x'.repeat(40)}" is none of them`],
  [{ any: Array.from({ length: 3 }, () => ({ all: Array(7).fill(condition) })) }, 'must have at most 20 conditions'],
  [{ not: { changed: 'role' } }, 'at not.changed must be a list of 1 to 100 names of fields'],
  [{ changed: [] }, 'at changed must be a list'],
  [{ changed: ['role,email'] }, 'at changed must be a list'],
  [{ changed: ['role'], path: '/id' }, 'must have one of'],
  [{ any: Array.from({ length: 3 }, () => ({ all: Array(7).fill({ changed: ['role'] }) })) }, 'must have at most 20 conditions'],
  [nested(8), 'is nested deeper than 8 levels'],
  [nested(1000), 'is nested deeper than 8 levels'],
])('a filter with a mistake is refused with its place', (filter, problem) => {
  expect(filterProblem(filter)).toContain(problem)
})
