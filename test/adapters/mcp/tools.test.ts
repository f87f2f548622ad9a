import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { toolsOf } from '../../../adapters/mcp/tools.ts'
import { version } from '../../../adapters/version.ts'
import { operations } from '../../../lib/operations.ts'
import { call, clientOf } from '../../support/mcp.ts'

const option = (name: string) => `--${name}`
const named = (choice: Parameters<typeof toolsOf>[1]) => toolsOf(operations, choice, option).map(({ name }) => name)

test('without a choice there is a tool for each operation that reads, and no other', () => {
  const tools = toolsOf(operations, {}, option)
  expect(tools.map(({ operation }) => operation.id)).toEqual(
    operations.filter(({ method }) => method === 'GET').map(({ id }) => id),
  )
  expect(tools.every(({ annotations }) => annotations.readOnlyHint && !annotations.destructiveHint)).toBe(true)
})

test('write opens a group, only leaves out the others, and * is every group', () => {
  expect(named({ write: ['tags'], only: ['tags'] })).toEqual(
    operations.filter(({ scope }) => scope.startsWith('tags:')).map(({ id }) => id.replace('.', '_')),
  )
  expect(named({ write: ['*'] })).toHaveLength(operations.length)
  expect(named({ write: ['tags'] })).not.toContain('members_create')
})

test('an unknown group is refused with the nearest ones, or with the list', () => {
  expect(() => named({ write: ['post'] })).toThrow(/--write must name groups, got "post"; did you mean posts[^.;]*\?$/)
  expect(() => named({ write: ['everything'] })).toThrow(
    /--write must name groups, got "everything"; allowed: \*, abuse_reports, /,
  )
  expect(() => named({ only: ['*'] })).toThrow('--only must name groups, got "*"')
})

test('names are unique, and every client takes them', () => {
  const names = named({ write: ['*'] })
  expect(new Set(names).size).toBe(names.length)
  expect(names.filter((name) => !/^[a-z_]{1,64}$/.test(name))).toEqual([])
})

test('arguments are whole schemas: no reference, no file, each id once, the body apart', () => {
  for (const { name, inputSchema, operation } of toolsOf(operations, { write: ['*'] }, option)) {
    const text = JSON.stringify(inputSchema)
    expect({ name, references: text.includes('$ref'), files: text.includes('"binary"') }).toEqual({
      name,
      references: false,
      files: false,
    })
    const ids = [...operation.path.matchAll(/:(\w+)/g)].map(([, id]) => id)
    expect(inputSchema['required']).toEqual(expect.arrayContaining(ids))
    const all = [...ids, ...Object.keys(operation.query ?? {})]
    expect({ name, all: new Set(all).size }).toEqual({ name, all: all.length })
  }
})

/** Every schema within a schema, with its place. */
function* schemasIn(value: unknown, place: string): Generator<readonly [string, Record<string, unknown>]> {
  if (typeof value !== 'object' || value === null) return
  if (!Array.isArray(value)) yield [place, value as Record<string, unknown>]
  for (const [name, inner] of Object.entries(value)) yield* schemasIn(inner, `${place}.${name}`)
}

const combining = ['anyOf', 'oneOf', 'allOf', 'not', 'const', '$ref', 'nullable']

test.each(toolsOf(operations, { write: ['*'] }, option))('each property of $name has one type', ({ name, inputSchema }) => {
  const schemas = [...schemasIn(inputSchema, name)]
  expect(schemas.filter(([, schema]) => combining.some((word) => word in schema)).map(([place]) => place)).toEqual([])
  const properties = schemas.flatMap(([place, { properties, items }]) => [
    ...Object.entries(properties ?? {}).map(([field, schema]) => [`${place}.${field}`, schema.type, schema.enum] as const),
    ...(items ? [[`${place}[]`, Object(items).type, Object(items).enum] as const] : []),
  ])
  const types = ['string', 'integer', 'number', 'boolean', 'array', 'object']
  expect(properties.filter(([, type, values = []]) => !types.includes(type) || values.includes(null))).toEqual([])
})

test('a field that null clears says so, and an id is a text', () => {
  const body = (name: string) => {
    const tool = toolsOf(operations, { write: ['*'] }, option).find((one) => one.name === name)
    return Object(tool?.inputSchema['properties']).body.properties
  }
  expect(body('events_update').interval).toMatchObject({
    type: 'integer',
    description: expect.stringMatching(/ Null clears it\.$/),
  })
  expect(body('events_create').interval.description).toMatch(/ It may be null\.$/)
  expect(body('tags_update').color.description.match(/null/gi)).toHaveLength(1)
  expect(body('events_update').frequency.enum).toEqual(['daily', 'weekly', 'monthly', 'yearly'])
  expect(body('spaces_update').collection_id.type).toBe('string')
})

test('what a schema leaves out, null and ids as numbers, is taken as before', async () => {
  const { client, api } = await clientOf({ write: ['*'] })
  const { id: tag_id } = await api.tags.create({ title: 'Oil', color: '#FF5733' })
  const cleared = await call(client, 'tags_update', { id: tag_id, body: { color: null } })
  expect(cleared).toMatchObject({ isError: false, data: { color: null } })
  const me = await api.me.show()
  const given = await call(client, 'member_tags_create', { member_id: me.id, body: { tag_id: Number(tag_id) } })
  expect(given.isError).toBe(false)
})

test('annotations follow from the declaration: creating destroys nothing, and only POST is not idempotent', () => {
  const hints = Object.fromEntries(
    toolsOf(operations, { write: ['*'] }, option).map(({ name, annotations }) => {
      const { readOnlyHint, destructiveHint, idempotentHint } = annotations
      return [name, [readOnlyHint, destructiveHint, idempotentHint]]
    }),
  )
  expect([
    hints['posts_list'],
    hints['posts_create'],
    hints['posts_update'],
    hints['posts_delete'],
    hints['space_members_ban'],
  ]).toEqual([
    [true, false, true],
    [false, false, false],
    [false, true, true],
    [false, true, true],
    [false, true, false],
  ])
})

test('a creation that may replace a record is destructive, as its events show', () => {
  const creations = toolsOf(operations, { write: ['*'] }, option).filter(({ operation }) => operation.id.endsWith('.create'))
  const destructive = creations.filter(({ annotations }) => annotations.destructiveHint)
  expect(destructive.map(({ name }) => name).toSorted()).toEqual([
    'comment_reactions_create',
    'post_reactions_create',
    'rsvps_create',
  ])
})

test('a description is what the operation declares, and its scope', () => {
  for (const { description, operation } of toolsOf(operations, { write: ['*'] }, option))
    expect(description).toBe(`${operation.summary} ${operation.description} Scope of the token: ${operation.scope}.`)
})

test('the client of the protocol takes every tool as valid', async () => {
  const { client } = await clientOf({ write: ['*'] })
  expect((await client.listTools()).tools).toHaveLength(operations.length)
})

test('agents get the version of the package', () => {
  const manifest = readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')
  expect(JSON.parse(manifest).version).toBe(version)
})
