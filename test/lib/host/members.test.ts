/** What a host does with members: see who has left and who is banned, lift a ban, erase a person. */
import { describe, expect, test } from 'vitest'
import { members } from '../../../lib/storage/tables/members.ts'
import { createTestCommunity, type TestCommunity } from '../../support/community.ts'
import { createMembers } from '../../support/members.ts'
import { newMember, newSpace, now } from '../../support/records.ts'

const banned = async (test: TestCommunity, id: string, ban_reason: string | null = null) => {
  const space = await newSpace(test)
  const response = await test.send('space_members.ban', { params: { space_id: space.id, user_id: id }, body: { ban_reason } })
  expect(response.status).toBe(200)
}

const linesOf = async ({ community }: TestCommunity) => (await community.audit.list({ network: '1' })).items

describe('the list', () => {
  test('shows members in every state, the newest first, with the reason of a ban, when, and by whom', async () => {
    const run = await createTestCommunity()
    const [grace, alan, edsger] = await createMembers(run, 'Grace', 'Alan', 'Edsger')
    await run.send('members.delete', { params: { id: alan.id } })
    await run.send('members.remove_from_network', { params: { id: edsger.id } })
    await banned(run, grace.id, 'Sold watches')
    const { items, next } = await run.community.members.list('demo')
    expect(next).toBeNull()
    expect(items.map(({ id, state }) => [id, state])).toEqual([
      [edsger.id, 'removed'],
      [alan.id, 'deleted'],
      [grace.id, 'banned'],
      [run.owner.id, 'active'],
    ])
    expect(items[2]).toEqual({
      ...{ id: grace.id, network_id: '1', created_at: now, updated_at: now, email: 'grace@example.org' },
      ...{ first_name: 'Grace', last_name: 'Example', role: 'contributor', member_type: 'full', state: 'banned' },
      ...{ is_banned: true, ban_reason: 'Sold watches', left_at: now, left_by: { id: run.owner.id, name: 'Ada Host' } },
      ...{ last_visited_at: null, erased_at: null },
    })
    expect(items[3]).toMatchObject({ is_banned: false, ban_reason: null, left_at: null, left_by: null })
    for (const state of ['active', 'removed', 'banned', 'deleted'] as const)
      expect((await run.community.members.list('1', { state })).items.map((item) => item.state)).toEqual([state])
  })

  test('a member who is back has not left', async () => {
    const run = await createTestCommunity()
    const [grace] = await createMembers(run, 'Grace')
    await run.send('members.remove_from_network', { params: { id: grace.id } })
    await newMember(run, 'grace')
    const [item] = (await run.community.members.list('1')).items
    expect(item).toMatchObject({ id: grace.id, state: 'active', left_at: null, left_by: null })
  })

  test('pages follow each other without a gap', async () => {
    const run = await createTestCommunity()
    await createMembers(run, 'A', 'B', 'C', 'D')
    for (const query of [{}, { q: 'example' }, { state: 'active' as const }]) {
      const whole = (await run.community.members.list('1', query)).items.map(({ id }) => id)
      for (const limit of [1, 2, 3, 5]) {
        const seen: string[] = []
        let after: string | undefined
        do {
          const page = await run.community.members.list('1', { ...query, limit, ...(after === undefined ? {} : { after }) })
          expect(page.items.length).toBeLessThanOrEqual(limit)
          seen.push(...page.items.map(({ id }) => id))
          after = page.next ?? undefined
        } while (after !== undefined)
        expect([limit, seen]).toEqual([limit, whole])
      }
    }
  })

  test('a search finds words in the name and the address, without regard to case and accents', async () => {
    const run = await createTestCommunity()
    const jose = await newMember(run, 'jose', { first_name: 'José', last_name: 'Müller-Lüdenscheidt' })
    const zoe = await newMember(run, 'zoe', { first_name: 'Zoë', last_name: 'Jose' })
    const found = async (q: string) => (await run.community.members.list('1', { q })).items.map(({ id }) => id)
    expect(await found('jose')).toEqual([zoe.id, jose.id])
    expect(await found('MULLER jos')).toEqual([jose.id])
    expect(await found('zoe@')).toEqual([zoe.id])
    expect(await found('nobody')).toEqual([])
    expect(await found('100%_')).toEqual([])
    // A whole address or id comes first, once, on each page.
    expect(await found('Jose@Example.org')).toEqual([jose.id])
    expect(await found(jose.id)).toEqual([jose.id])
    const first = await run.community.members.list('1', { q: 'jose@example.org', limit: 1 })
    expect(first.items.map(({ id }) => id)).toEqual([jose.id])
    expect((await run.community.members.list('1', { q: 'jose@example.org', limit: 1, after: first.next ?? '' })).items).toEqual(
      [],
    )
    expect((await run.community.members.list('1', { q: 'jose@example.org', state: 'banned' })).items).toEqual([])
  })

  test('a page of a search looks at a bounded number of members, and the next one goes on', async () => {
    const run = await createTestCommunity()
    const needle = await newMember(run, 'needle')
    await run.storage.transaction(async (tx) => {
      const hay = (await tx.find(members, { where: { id: needle.id } }))[0]
      if (!hay) throw new Error('no needle')
      for (let id = Number(needle.id) + 1; id <= Number(needle.id) + 2100; id++)
        await tx.insert(members, { ...hay, id: String(id), email: `h${id}@hay.example`, email_key: null, first_name: 'Hay' })
    })
    const first = await run.community.members.list('1', { q: 'needle@example' })
    expect(first).toMatchObject({ items: [], next: expect.any(String) })
    const second = await run.community.members.list('1', { q: 'needle@example', after: first.next ?? '' })
    expect(second).toMatchObject({ items: [{ id: needle.id }], next: null })
  })
})

describe('a ban', () => {
  test('is lifted: the member may join again, is the same member, and the audit has it', async () => {
    const run = await createTestCommunity()
    const [grace] = await createMembers(run, 'Grace')
    await banned(run, grace.id, 'Sold watches')
    const join = { body: { email: 'grace@example.org', first_name: 'Grace', last_name: 'Hopper' } }
    expect((await run.send('members.create', join)).status).toBe(422)
    run.newEvents()
    const lifted = await run.community.by({ actor: 'ada@example.org' }).members.unban('demo', grace.id)
    expect(lifted).toMatchObject({ id: grace.id, state: 'removed', is_banned: false, ban_reason: null, left_at: now })
    expect(run.newEvents()).toEqual([])
    expect((await linesOf(run))[0]).toMatchObject({
      actor: 'ada@example.org',
      action: 'member.unbanned',
      subject: { type: 'member', id: grace.id, name: 'Grace Example' },
      details: { ban_reason: 'Sold watches', banned_at: now },
    })
    expect(await run.send('members.create', join)).toMatchObject({ status: 201, body: { id: grace.id } })
    await expect(run.community.members.unban('1', grace.id)).rejects.toThrow('The member is not banned')
  })

  test('of two concurrent unbans one succeeds', async () => {
    const run = await createTestCommunity()
    const [grace] = await createMembers(run, 'Grace')
    await banned(run, grace.id)
    const both = await Promise.allSettled([
      run.community.members.unban('1', grace.id),
      run.community.members.unban('1', grace.id),
    ])
    expect(both.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
    expect((await linesOf(run)).filter(({ action }) => action === 'member.unbanned')).toHaveLength(1)
  })

  test('of which the account is deleted while it is lifted leaves a free address', async () => {
    const run = await createTestCommunity()
    const [grace] = await createMembers(run, 'Grace')
    await banned(run, grace.id)
    const [, deleted] = await Promise.all([
      run.community.members.unban('1', grace.id),
      run.send('members.delete', { params: { id: grace.id } }),
    ])
    expect(deleted.status).toBe(204)
    const { items } = await run.community.members.list('1', { q: grace.id })
    expect(items).toMatchObject([{ state: 'deleted', is_banned: false }])
    await newMember(run, 'grace')
  })

  test.each(['deleted', 'erased'])('stays when the account is %s, until it is lifted', async (how) => {
    const run = await createTestCommunity()
    const [grace] = await createMembers(run, 'Grace')
    await banned(run, grace.id)
    run.newEvents()
    if (how === 'erased') await run.community.members.erase('1', grace.id)
    else expect((await run.send('members.delete', { params: { id: grace.id } })).status).toBe(204)
    expect(run.newEvents()).toEqual([])
    expect((await run.send('members.delete', { params: { id: grace.id } })).status).toBe(404)
    const join = { body: { email: 'GRACE@example.org', first_name: 'Grace', last_name: 'Hopper' } }
    expect(await run.send('members.create', join)).toMatchObject({
      status: 422,
      body: { error: 'email belongs to a member who is banned from this network' },
    })
    const invite = { body: { recipient_email: 'grace@example.org' } }
    expect((await run.send('invites.create', invite)).status).toBe(422)
    const [other] = await createMembers(run, 'Other')
    expect((await run.send('members.update', { params: { id: other.id }, body: { email: 'grace@example.org' } })).status).toBe(
      422,
    )
    expect((await run.community.members.list('1', { state: 'deleted' })).items).toMatchObject([{ is_banned: true }])

    expect(await run.community.members.unban('1', grace.id)).toMatchObject({ state: 'deleted', is_banned: false })
    const back = await run.send('members.create', join)
    expect(back.status).toBe(201)
    expect(back.body.id).not.toBe(grace.id)
  })
})

test('a member who was removed is deleted: no second MemberLeft, the payments end, the address is free', async () => {
  const run = await createTestCommunity()
  const [grace, other] = await createMembers(run, 'Grace', 'Other')
  await run.send('members.remove_from_network', { params: { id: grace.id } })
  run.newEvents()
  expect((await run.send('members.delete', { params: { id: grace.id } })).status).toBe(204)
  expect(run.newEvents()).toEqual([])
  expect((await run.send('members.show', { params: { id: grace.id } })).status).toBe(404)
  expect((await run.send('members.delete', { params: { id: grace.id } })).status).toBe(404)
  const moved = await run.send('members.update', { params: { id: other.id }, body: { email: 'grace@example.org' } })
  expect(moved.status).toBe(200)
})
