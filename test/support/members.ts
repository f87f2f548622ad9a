import type { TestCommunity } from './community.ts'
import type { Json } from './json.ts'

/** Creates members with these first names, `grace@example.org` and so on; the welcome is not part of any test that uses them. */
export async function createMembers({ send, newEvents }: Pick<TestCommunity, 'send' | 'newEvents'>, ...names: readonly string[]) {
  const created: Json[] = []
  for (const first_name of names) {
    const body = { email: `${first_name.toLowerCase()}@example.org`, first_name, last_name: 'Example' }
    created.push((await send('members.create', { body })).body)
  }
  newEvents()
  return created
}

/** Creates spaces with these names. */
export async function createSpaces({ send }: Pick<TestCommunity, 'send'>, ...names: readonly string[]) {
  const created: Json[] = []
  for (const name of names) created.push((await send('spaces.create', { body: { name } })).body)
  return created
}

/** Bans a member from the network. */
export async function ban({ send }: Pick<TestCommunity, 'send'>, user_id: string): Promise<void> {
  const [space] = await createSpaces({ send }, 'A place to be banned from')
  await send('space_members.ban', { params: { space_id: space.id, user_id }, body: {} })
}
