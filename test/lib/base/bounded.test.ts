import { expect, test } from 'vitest'
import { BoundedMap } from '../../../lib/base/bounded.ts'

test('an entry too many drops the one that was set longest ago', () => {
  const map = new BoundedMap<string, number>(2).set('a', 1).set('b', 2).set('c', 3)
  expect([...map]).toEqual([
    ['b', 2],
    ['c', 3],
  ])
})

test('setting a key again replaces its value, makes it the newest and drops nothing', () => {
  const map = new BoundedMap<string, number>(2).set('a', 1).set('b', 2).set('a', 3)
  expect([...map.keys()]).toEqual(['b', 'a'])
  expect([...map.set('c', 4)]).toEqual([
    ['a', 3],
    ['c', 4],
  ])
})

test('an entry that was deleted leaves room for another', () => {
  const map = new BoundedMap<string, number>(2).set('a', 1).set('b', 2)
  map.delete('b')
  expect([...map.set('c', 3).keys()]).toEqual(['a', 'c'])
})
