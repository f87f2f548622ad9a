/** The host's list of members, and selections of members. */
import { expect, test } from 'vitest'
import { checkArgument } from '../../../lib/host/arguments.ts'
import { type MemberQuery, type MemberSelection, MemberSelectionInput, selectMembers } from '../../../lib/host/members/search.ts'
import { defaultLimits } from '../../../lib/limits.ts'
import type { Patch } from '../../../lib/storage/contract.ts'
import { hostScoped } from '../../../lib/storage/scoped.ts'
import { networks } from '../../../lib/storage/tables/administration.ts'
import { type MemberRow, members } from '../../../lib/storage/tables/members.ts'
import { createTestCommunity } from '../../support/community.ts'
import { newMember, newSpace } from '../../support/records.ts'

async function people() {
  const run = await createTestCommunity()
  const space = await newSpace(run)
  const ids: Record<string, string> = {}
  for (const [name, last_name] of [
    ['Zoë', 'Blue'],
    ['Ben', 'Ash'],
    ['Cleo', 'Blue'],
    ['Dan', 'Blue'],
  ] as const) {
    const email = `${name === 'Zoë' ? 'zoe' : name.toLowerCase()}@example.org`
    ids[name] = (await newMember(run, name, { email, first_name: name, last_name })).id
  }
  const change = (name: string, patch: Patch<MemberRow>) =>
    run.storage.transaction((tx) => hostScoped(tx, '1').update(members, ids[name] ?? '', patch))
  await run.send('space_members.create', { params: { space_id: space.id }, query: { user_id: ids['Zoë'] ?? '' } })
  await run.send('space_members.create', { params: { space_id: space.id }, query: { user_id: ids['Dan'] ?? '' } })
  await run.send('members.remove_from_network', { params: { id: ids['Dan'] ?? '' } })
  await change('Zoë', { last_visited_at: '2026-05-01T00:00:00.000Z' })
  await change('Ben', { last_visited_at: '2026-07-01T00:00:00.000Z' })
  const names = async (query: MemberQuery) => (await run.community.members.list('1', query)).items.map((item) => item.first_name)
  return { ...run, space, ids, names }
}

test('the list of the host has the filters of the operation, over members in every state', async () => {
  const { names, space } = await people()
  expect(await names({})).toEqual(['Dan', 'Cleo', 'Ben', 'Zoë', 'Ada'])
  expect(await names({ space_id: space.id })).toEqual(['Zoë'])
  expect(await names({ q: 'blue', state: 'active' })).toEqual(['Cleo', 'Zoë'])
  expect(await names({ q: '@example.org', state: 'removed' })).toEqual(['Dan'])
  expect(await names({ last_visited_before: '2026-06-01T00:00:00Z' })).toEqual(['Zoë'])
  expect(await names({ role: 'host' })).toEqual(['Ada'])
  expect(await names({ sort: 'name' })).toEqual(['Ada', 'Ben', 'Cleo', 'Dan', 'Zoë'])
  expect(await names({ sort: '-last_visited_at', state: 'active' })).toEqual(['Ben', 'Zoë', 'Cleo', 'Ada'])
  expect(await names({ q: 'ZOE@example.org', sort: 'name' })).toEqual(['Zoë'])
  expect(await names({ q: 'ben@example.org', space_id: space.id })).toEqual([])
})

test('pages of every order follow each other, and count says how many there are', async () => {
  const { community, names } = await people()
  for (const sort of [undefined, 'name', '-name', 'last_visited_at', '-last_visited_at', 'created_at'] as const)
    for (const q of [undefined, 'e', '@example.org']) {
      const query: MemberQuery = { ...(sort ? { sort } : {}), ...(q ? { q } : {}), count: true }
      const whole = await names(query)
      const walked: string[] = []
      for (let after: string | null | undefined; after !== null; ) {
        const page = await community.members.list('1', { ...query, limit: 1, ...(after === undefined ? {} : { after }) })
        walked.push(...page.items.map((item) => item.first_name))
        expect(page.total_count).toBe(whole.length)
        after = page.next
      }
      expect(walked, JSON.stringify(query)).toEqual(whole)
    }
  expect(await community.members.list('1')).not.toHaveProperty('total_count')
})

test('a wrong value of the list is refused with its name', async () => {
  const { community } = await people()
  const refusal = (query: object) => community.members.list('1', query).catch((error: Error) => error.message)
  expect(await refusal({ tag_id: 'blue', role: 'king' })).toBe(
    'role must be one of host, moderator, contributor; tag_id must be an id',
  )
  expect(await refusal({ sort: 'age' })).toContain('sort must be one of created_at')
  expect(await refusal({ after: 'x' })).toBe('after must be the `next` of a page in this order')
  expect(await refusal({ sort: 'name', after: '12' })).toBe('after must be the `next` of a page in this order')
  expect(await refusal({ tag: '1' })).toContain('field `tag` does not exist')
})

test('a selection is a filter, ids or addresses, and is walked step by step', async () => {
  const { storage, ids } = await people()
  async function selected(selection: MemberSelection, limit: number) {
    const checked = checkArgument('members.bulk', MemberSelectionInput, selection, defaultLimits)
    const [names, missing]: [string[], string[]] = [[], []]
    let after: string | undefined
    for (let steps = 0; steps < 20; steps++) {
      const step = await storage.transaction(async (tx) => {
        const network = await tx.get(networks, '1')
        if (!network) throw new Error('the network is gone')
        return selectMembers(hostScoped(tx, '1'), network, checked, after, limit)
      })
      names.push(...step.rows.map((row) => row.first_name))
      missing.push(...step.missing)
      if (step.next === null) return { names, missing }
      after = step.next
    }
    throw new Error('the walk does not end')
  }
  const { Zoë = '', Ben = '', Dan = '' } = ids
  for (const limit of [1, 2, 100]) {
    expect(await selected({ filter: {} }, limit)).toEqual({ names: ['Ada', 'Zoë', 'Ben', 'Cleo', 'Dan'], missing: [] })
    expect(await selected({ filter: { q: 'blue', state: 'active' } }, limit)).toEqual({ names: ['Zoë', 'Cleo'], missing: [] })
    expect(await selected({ ids: [Dan, Number(Zoë), Ben, '404', Zoë] }, limit)).toEqual({
      names: ['Zoë', 'Ben', 'Dan'],
      missing: ['404'],
    })
    expect(
      await selected({ addresses: ['BEN@example.org', 'nobody@example.org', 'zoe@example.org', 'ben@example.org'] }, limit),
    ).toEqual({
      names: ['Ben', 'Zoë'],
      missing: ['nobody@example.org'],
    })
    expect(await selected({ ids: [] }, limit)).toEqual({ names: [], missing: [] })
  }
  const both = { ids: ['1'], addresses: ['a@example.org'] } as MemberSelection
  for (const wrong of [both, {} as MemberSelection])
    await expect(selected(wrong, 1)).rejects.toThrow('must have one of filter, ids and addresses')
  await expect(selected({ filter: { role: 'king' as never } }, 1)).rejects.toThrow('filter.role must be one of')
})
