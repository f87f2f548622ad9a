/** Collections, spaces, members, and the spaces that they are in. */
import { titleKey } from '../../../../../lib/rules/titles.ts'
import { rowsOf } from '../../../../../lib/storage/rows-of.ts'
import { collections, members, spaceMemberships, spaces } from '../../../../../lib/storage/tables/members.ts'
import { isGiven, textOf } from '../../given.ts'
import { given, type Push, type PushStage, pushStage } from '../push-stage.ts'

/** The id of a record that a list of the server shows. */
export async function idInList(
  { target }: Push,
  list: string,
  params: Readonly<Record<string, string>>,
  query: Readonly<Record<string, string>>,
  isIt: (record: Readonly<Record<string, unknown>>) => boolean,
): Promise<string | undefined> {
  const pages = target.client.call(list, { params, query })
  if (!('pages' in pages)) throw new TypeError(`${list} is no list`)
  for await (const record of pages) if (isGiven(record) && isIt(record)) return textOf(record['id'])
  return undefined
}

const allCollections = pushStage({
  name: 'collections',
  group: 'collections',
  table: collections,
  // A network has a thousand at most.
  async *rows({ reads }) {
    yield* await reads.find(collections, { where: {}, order: { by: 'position', direction: 'asc' } })
  },
  create: 'collections.create',
  update: 'collections.update',
  body: (row) => given({ name: row.name, description: row.description, visible_to_members: row.visible_to_members }),
  changes: ({ name, description, visible_to_members }) => ({ name, description, visible_to_members }),
  taken: (row, push) => idInList(push, 'collections.list', {}, {}, ({ name }) => titleKey(textOf(name)) === titleKey(row.name)),
  follows: ['name_key', 'position'],
})

const allSpaces = pushStage({
  name: 'spaces',
  group: 'spaces',
  table: spaces,
  create: 'spaces.create',
  update: 'spaces.update',
  body: ({ name }) => ({ name }),
  changes: ({ name, collection_id }, push) => ({
    name,
    collection_id: collection_id === null ? null : push.there('collections', collection_id),
  }),
  follows: ['position'],
})

/** A space that moves to a collection comes last there. */
const order = pushStage({
  name: 'order of spaces',
  group: 'spaces',
  table: collections,
  label: 'order',
  isAlways: true,
  update: 'collections.order',
  isWhole: true,
  params: ({ id }, push) => ({ id: push.there('collections', id) }),
  async changes({ id }, { reads, thereIf }) {
    const held = await reads.find(spaces, { where: { collection_id: id } })
    held.sort((a, b) => (a.position ?? 0) - (b.position ?? 0))
    const there = held.flatMap((space) => thereIf('spaces', space.id) ?? [])
    return there.length > 1 ? { spaces: there.map((space_id, index) => ({ space_id, position: index + 1 })) } : {}
  },
})

const pairOf = ({ space_id, member_id }: { readonly space_id: string; readonly member_id: string }) => `${space_id} ${member_id}`

const allMembers = pushStage({
  name: 'members',
  group: 'members',
  table: members,
  where: {},
  create: 'members.create',
  update: 'members.update',
  reason: ({ state, email }) => {
    if (state !== 'active') return 'they have left the network'
    return email === '' ? 'their e-mail address is not known' : undefined
  },
  async body({ id, email, first_name, last_name, role, member_type }, push) {
    const names = { email, first_name, last_name, role, member_type, send_welcome_email: false }
    return member_type === 'limited' ? { ...names, space_ids: (await spacesOf(id, push)).map(([, , there]) => there) } : names
  },
  changes: ({ role, email, first_name, last_name }) => ({ role, email, first_name, last_name }),
  async taken({ email }, { target }) {
    const found: unknown = await target.run(() => target.client.members.byEmail({ email }))
    return isGiven(found) ? textOf(found['id']) || undefined : undefined
  },
  // A limited member is in their spaces immediately.
  async related({ id, member_type }, { id: there }, push) {
    if (member_type !== 'limited') return []
    return (await spacesOf(id, push)).map(([space_id]) => ['space_memberships', `${space_id} ${id}`, textOf(there)] as const)
  },
  follows: ['email_key', 'state', 'ban_reason', 'categories'],
})

/** The spaces of a member that are on the server. */
async function spacesOf(member_id: string, { reads, thereIf }: Push): Promise<[id: string, member: string, there: string][]> {
  const found: [string, string, string][] = []
  for await (const { space_id } of rowsOf(reads, spaceMemberships, { member_id }, { by: 'space_id' })) {
    const there = thereIf('spaces', space_id)
    if (there !== undefined) found.push([space_id, member_id, there])
  }
  return found
}

const membersOfSpaces = pushStage({
  name: 'members of spaces',
  group: 'spaces',
  table: spaceMemberships,
  key: pairOf,
  create: 'space_members.create',
  update: 'space_members.update',
  hasNoId: true,
  params: ({ space_id, member_id }, push) => ({
    space_id: push.there('spaces', space_id),
    user_id: push.there('members', member_id),
  }),
  query: ({ member_id }, push) => ({ user_id: push.there('members', member_id) }),
  changes: ({ role }) => (role === null ? {} : { role }),
  async taken({ space_id, member_id }, { target, there }) {
    const [space, member] = [there('spaces', space_id), there('members', member_id)]
    await target.run(() => target.client.spaces.members.show(space, member))
    return member
  },
  follows: ['space_id', 'member_id'],
})

/** In the order of dependence: a limited member is made with their spaces. */
export const people: readonly PushStage[] = [allCollections, allSpaces, order, allMembers, membersOfSpaces]
