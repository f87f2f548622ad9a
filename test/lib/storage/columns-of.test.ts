import * as v from 'valibot'
import { expect, test } from 'vitest'
import { columnsOf } from '../../../lib/storage/columns-of.ts'
import { webhookEndpoints } from '../../../lib/storage/tables/administration.ts'

test('a column follows from each kind of schema, and null from what may be left out', () => {
  const fields = {
    title: v.pipe(v.string(), v.maxLength(5)),
    size: v.nullable(v.pipe(v.number(), v.integer())),
    share: v.number(),
    tags: v.optional(v.array(v.string())),
    state: v.picklist(['open', 'closed']),
    shown: v.nullish(v.boolean()),
  }
  expect(columnsOf(fields, { state: 'open' })).toEqual({
    title: { type: 'text', nullable: false },
    size: { type: 'integer', nullable: true, default: null },
    share: { type: 'real', nullable: false },
    tags: { type: 'json', nullable: true, default: null },
    state: { type: 'text', nullable: false, default: 'open' },
    shown: { type: 'boolean', nullable: true, default: null },
  })
})

test('a schema of which no column follows is named', () => {
  expect(() => columnsOf({ at: v.date() }, {})).toThrow(
    /no column follows from the schema date of `at`; there are string, picklist/,
  )
})

test('the table of endpoints keeps the columns of databases that are there', () => {
  const written = Object.entries(webhookEndpoints.columns).map(
    ([name, { type, nullable, default: standard }]) =>
      `${name} ${type}${nullable ? ' null' : ''}${standard == null ? '' : ` = ${standard}`}`,
  )
  const kept = [
    ...['id id', 'network_id id', 'created_at timestamp', 'updated_at timestamp'],
    ...[
      'name text null',
      'url text',
      'key text',
      'secrets json',
      'old_keys json null',
      'old_secrets json null',
      'events json null',
    ],
    ...['audience text = integration', 'enabled boolean = true', 'order text = none', 'rate_per_second real null'],
  ]
  expect(kept.filter((column) => !written.includes(column))).toEqual([])
})
