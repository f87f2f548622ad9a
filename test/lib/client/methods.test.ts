/** The table and the methods of the client are those of the declarations. */
import { readdirSync, readFileSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { expect, test } from 'vitest'
import { createClient } from '../../../lib/client/index.ts'
import { methodName } from '../../../lib/client/names.ts'
import { routes } from '../../../lib/client/routes.ts'
import { routesOf } from '../../../lib/operation.ts'
import { operations } from '../../../lib/operations.ts'
import { clientFiles } from '../../../scripts/client-methods.ts'

test.each([...clientFiles].map(([path, content]) => [basename(path), path, content] as const))(
  '%s is what `npx node scripts/client-methods.ts` writes',
  (_, path, content) => {
    const state = content() === readFileSync(path, 'utf8') ? 'current' : 'out of date: run `npx node scripts/client-methods.ts`'
    expect(state).toBe('current')
  },
)

test('the groups have a file each, and there is no other', () => {
  const written = [...clientFiles.keys()].filter((path) => path.includes('/client/methods/'))
  const directory = dirname(written[0] ?? '')
  expect(readdirSync(directory).toSorted()).toEqual(written.map((path) => basename(path)).toSorted())
})

test('every operation has one method, and no two have the same', () => {
  const ids = routesOf(operations).map(({ id }) => id)
  expect(routes.map(({ id }) => id).toSorted()).toEqual(ids.toSorted())
  expect(new Set(routes.map(({ name }) => name.join('.'))).size).toBe(ids.length)
  const client: unknown = createClient({ baseUrl: 'https://api.test', network: '1', token: 'x' })
  for (const { name } of routes) {
    const method = name.reduce((group: unknown, word) => Object(group)[word], client)
    expect(method, name.join('.')).toBeTypeOf('function')
  }
})

test.each([
  ['members.list', '/members', 'members.list'],
  ['post_reactions.list', '/posts/:post_id/reactions', 'posts.reactions.list'],
  ['answers.upsert', '/custom_fields/:custom_field_id/members/:member_id/answers', 'customFields.members.answers.upsert'],
  ['members.remove_from_network', '/members/:id/network_membership', 'members.removeFromNetwork'],
  ['plans.remove_member', '/plans/:plan_id/members/:id/', 'plans.removeMember'],
  ['network.show', '/', 'network.show'],
])('%s at %s is %s', (id, path, name) => {
  expect(methodName(id, path).join('.')).toBe(name)
})
