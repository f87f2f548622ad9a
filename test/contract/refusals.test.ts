/** The cost of refusing a body: little, however long the body is and whatever it is made of. */
import type * as v from 'valibot'
import { expect, test } from 'vitest'
import { parseInput } from '../../lib/kernel/check.ts'
import { defaultLimits } from '../../lib/limits.ts'
import { exampleOf, routesWhere } from './support.ts'

interface List {
  readonly path: readonly string[]
  readonly item: v.GenericSchema
}

/** Every list in a schema, with the fields that lead to it. */
function listsIn(schema: v.GenericSchema, path: readonly string[] = []): List[] {
  const { entries, item, wrapped } = schema as v.GenericSchema & {
    readonly entries?: v.ObjectEntries
    readonly item?: v.GenericSchema
    readonly wrapped?: v.GenericSchema
  }
  if (wrapped) return listsIn(wrapped, path)
  if (item) return [{ path, item }]
  return Object.entries(entries ?? {}).flatMap(([name, field]) => listsIn(field as v.GenericSchema, [...path, name]))
}

const lists = routesWhere(({ body }) => body !== undefined).flatMap((id) => {
  const { body } = exampleOf(id).route.operation
  return body ? listsIn(body).map(({ path, item }) => ({ id, field: path.join('.'), item, body })) : []
})

test('there are lists to be tried', () => {
  expect(new Set(lists.map(({ field }) => field))).toEqual(
    new Set(['space_ids', 'segment_ids', 'locations', 'options', 'choices', 'spaces']),
  )
})

const wrong: Readonly<Record<string, unknown>> = { objects: {}, lists: [], numbers: 0.5, nulls: null, texts: '' }

test.each(lists)('$id: a list $field of wrong items is looked at up to a few of them', ({ id, field, item, body }) => {
  for (const [kind, value] of Object.entries(wrong))
    for (const length of [15, 900, 450_000]) {
      const looked = { items: 0 }
      const run = item['~run']
      const counting: typeof run = (dataset, config) => {
        looked.items++
        return run.call(item, dataset, config)
      }
      // The one schema of the list, watched while this body is refused.
      Object.assign(item, { '~run': counting })
      let refusal: unknown
      try {
        parseInput(body, { ...exampleOf(id).body, [field]: Array.from({ length }, () => value) }, defaultLimits)
      } catch (error) {
        refusal = error
      } finally {
        Object.assign(item, { '~run': run })
      }
      expect({ kind, length, refusal }).toMatchObject({ refusal: { status: 422, message: expect.stringContaining(field) } })
      expect(looked.items, `${kind}, ${length}`).toBeLessThan(10)
    }
})
