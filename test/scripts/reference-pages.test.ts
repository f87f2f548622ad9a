import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import { catalogue, hostCatalogue, payloadSchema } from '../../lib/events/catalogue.ts'
import { defaultTextLimits } from '../../lib/fields.ts'
import { exampleOf } from '../../lib/openapi/example.ts'
import { schemaWriter } from '../../lib/openapi/schema.ts'
import { fieldsOf } from '../../scripts/interface-fields.ts'
import { referencePages } from '../../scripts/reference-pages.ts'

test.each([...referencePages].map(([path, page]) => [basename(path), path, page] as const))(
  'docs/%s is what `npx node scripts/reference-pages.ts` writes',
  (_, path, page) => {
    const state = page() === readFileSync(path, 'utf8') ? 'current' : 'out of date: run `npx node scripts/reference-pages.ts`'
    expect(state).toBe('current')
  },
)

const names = [...Object.keys(catalogue), ...Object.keys(hostCatalogue)] as (
  | keyof typeof catalogue
  | keyof typeof hostCatalogue
)[]

test.each(names)('the example of %s is a payload of that event', (name) => {
  const writer = schemaWriter({ ids: 'string', limits: defaultTextLimits })
  const payload = exampleOf(writer.of(payloadSchema(name)), writer.components)
  expect(v.safeParse(payloadSchema(name), payload).issues).toBeUndefined()
})

test('a reference to nothing is refused', () => {
  expect(() => exampleOf({ $ref: '#/components/schemas/Nothing' }, {})).toThrow('#/components/schemas/Nothing refers to nothing')
})

describe('the fields of an interface', () => {
  const source = `export interface Lamp {
  /**
   * How bright it is,
   * in lumens.
   */
  readonly brightness: number
  /** Its colour. */
  readonly colour?:
    | 'red'
    | 'green'
  /** Switches it on. */
  switchOn(): void
}
`
  test('are read with their comments', () => {
    expect(fieldsOf(source, 'Lamp')).toEqual([
      { name: 'brightness', optional: false, type: 'number', text: 'How bright it is, in lumens.' },
      { name: 'colour', optional: true, type: "| 'red' | 'green'", text: 'Its colour.' },
      { name: 'switchOn', optional: false, type: '', text: 'Switches it on.' },
    ])
  })
  test('must have comments', () => {
    expect(() => fieldsOf('export interface Lamp {\n  readonly on: boolean\n}\n', 'Lamp')).toThrow('Lamp.on has no doc comment')
  })
  test('must be there', () => {
    expect(() => fieldsOf(source, 'Door')).toThrow('there is no interface or constant Door')
  })
})
