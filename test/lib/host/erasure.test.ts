/** A person is erased: what goes, what stays, and what the others see of it. */
import { describe, expect, test } from 'vitest'
import type { AssetStore } from '../../../lib/index.ts'
import type { OutboxRecord } from '../../../lib/outbox/record.ts'
import type { Table } from '../../../lib/storage/table.ts'
import { tables } from '../../../lib/storage/tables.ts'
import { createTestCommunity, request, type TestCommunity } from '../../support/community.ts'
import { createMembers } from '../../support/members.ts'
import { png, testPorts } from '../../support/ports.ts'
import { newMember, newPost, newSpace, now, typesOf } from '../../support/records.ts'

/** Everything that is stored, as one text. */
async function stored({ storage }: TestCommunity): Promise<string> {
  const rows = await storage.transaction(
    async (tx) => Promise.all((tables as readonly Table[]).map((table) => tx.find(table, {}))),
    { readOnly: true },
  )
  return JSON.stringify(rows)
}

const erasures = (records: readonly OutboxRecord[]) => records.flatMap((each) => (each.kind === 'erasure' ? [each.ids] : []))
const linesOf = async ({ community }: TestCommunity) => (await community.audit.list({ network: '1' })).items

/** A field whose options members may add to. */
async function companyField({ send }: TestCommunity) {
  const wide = { privacy: 'public', response_by: 'individual_member', allow_ad_hoc: true }
  const made = await send('custom_fields.create', {
    body: { title: 'Company', response_type: 'dropdown_single_select', ...wide },
  })
  expect(made.status).toBe(201)
  return made.body
}

async function company({ send }: TestCommunity, custom_field_id: string, member_id: string, text: string) {
  const answer = await send('answers.upsert', { params: { custom_field_id, member_id }, body: { text } })
  expect(answer.status).toBe(200)
}

/** A community in which one person has left all the traces that there are. */
async function communityWithTraces() {
  const test = testPorts()
  const run = await createTestCommunity({ ports: test.ports })
  const { community, send } = run
  const keyed = { headers: { 'idempotency-key': 'import-1' } }
  const person = { email: 'Zed.Quill@example.org', first_name: 'Zedekiah', last_name: 'Quillfeather' }
  const zed = (await send('members.create', { ...keyed, body: person })).body
  const asZed = { network: '1', as: zed.id } as const
  const asset_file = new File([png], 'zedekiah.png')
  const avatar = await community.call('assets.create', { ...asZed, body: { asset_style: 'avatar', asset_file } })
  await community.call('assets.create', { ...asZed, body: { asset_style: 'user_cover', asset_file } })
  const profile = { bio: 'Zedekiah was here', location: 'Quill Street', avatar: avatar.url }
  await community.notify.memberProfile({ network: '1', member_id: zed.id, ...profile, commercial_email_consent: true })
  const space = await newSpace(run)
  await newPost(run, space.id)
  await community.call('posts.create', { ...asZed, body: { space_id: space.id, title: 'Kept', description: 'Kept' } })
  const field = await companyField(run)
  await company(run, field.id, zed.id, 'Quillfeather Ltd')
  await send('members.update', {
    ...{ headers: { 'idempotency-key': 'rename' } },
    params: { id: zed.id },
    body: { role: 'moderator' },
  })
  await community.audit.record({
    network: '1',
    action: 'members.consent',
    subject: { type: 'network', id: '1' },
    details: { consent: true, email: 'zed.quill@example.org' },
    work_id: 'w',
  })
  const subject = { type: 'member', id: zed.id, name: 'Zedekiah Quillfeather' } as const
  await community.audit.record({ network: '1', action: 'members.consent', subject, details: { note: 'Zedekiah' } })
  run.newEvents()
  return { ...run, zed, space, person, files: test.files }
}

/** Names, words and the address, in any case. */
const traces = /zed|quill/i

/** Each row that is stored, by its table and id, if it has a trace. */
async function rowsWithTraces({ storage }: TestCommunity): Promise<readonly string[]> {
  const all = await storage.transaction(
    async (tx) =>
      Promise.all(
        (tables as readonly Table[]).map(async (table) => {
          const rows = await tx.find(table, {})
          return rows.filter((row) => traces.test(JSON.stringify(row))).map(({ id }) => `${table.name} ${id}`)
        }),
      ),
    { readOnly: true },
  )
  return all.flat()
}

test('an export of a person has every row that names them, no secret, and a line of the audit', async () => {
  const run = await communityWithTraces()
  const { community, zed, send } = run
  const key = await community.keys.create({ network: '1', name: 'Of Zed', scopes: ['*'], member_id: zed.id })
  await newMember(run, 'other', { first_name: 'Bystander' })
  await send('invites.create', { body: { recipient_email: 'friend@example.org' } })
  const traced = await rowsWithTraces(run)
  const rows: Record<string, unknown>[] = []
  for await (const row of community.members.export('1', zed.id)) rows.push({ ...row })
  const places = rows.map((row) => `${row['table']} ${row['id']}`)
  expect(traced.filter((place) => !places.includes(place))).toEqual([])
  expect(new Set(places).size).toBe(places.length)
  expect(places).toContain(`api_keys ${key.key.id}`)
  const text = JSON.stringify(rows)
  expect(text).not.toMatch(/Bystander|friend@|token_hash|search_key|"network_id":"1","created_at/)
  expect((await linesOf(run))[0]).toMatchObject({ action: 'member.exported', subject: { type: 'member', id: zed.id } })
  await expect(community.members.exportPage('1', '999999')).rejects.toMatchObject({ status: 404 })
  await expect(community.members.exportPage('1', zed.id, { after: 'x' })).rejects.toMatchObject({ status: 422 })
})

test('pages of an export of a person have all of its rows', async () => {
  const run = await communityWithTraces()
  const { community, zed } = run
  const space = await newSpace(run)
  for (let n = 0; n < 250; n++)
    await community.call('posts.create', {
      network: '1',
      as: zed.id,
      body: { space_id: space.id, title: `${n}`, description: 'x' },
    })
  const titles: unknown[] = []
  for await (const row of community.members.export('1', zed.id)) if (row['table'] === 'posts') titles.push(row['title'])
  expect(titles).toEqual(['Kept', ...Array.from({ length: 250 }, (_, n) => `${n}`)])
})

describe('an erasure', () => {
  test('leaves nothing of an active member but ids, and emits what their deletion does', async () => {
    const run = await communityWithTraces()
    const { community, zed, send } = run
    expect(await stored(run)).toMatch(traces)
    expect(run.files.size).toBe(2)
    const erased = await community.by({ actor: 'host@example.org' }).members.erase('demo', Number(zed.id))
    expect(erased).toEqual({
      ...{ id: zed.id, network_id: '1', created_at: now, updated_at: now, email: '', first_name: '', last_name: '' },
      ...{ role: 'moderator', member_type: 'full', state: 'deleted', is_banned: false, ban_reason: null },
      ...{ left_at: now, left_by: { id: run.owner.id, name: 'Ada Host' }, erased_at: now, last_visited_at: null },
    })
    expect(await stored(run)).not.toMatch(traces)
    expect(run.files.size).toBe(0)
    expect(typesOf(run.newEvents())).toEqual(['MemberLeftHook'])
    expect(erasures(run.records)).toEqual([[zed.id]])
    expect((await linesOf(run))[0]).toMatchObject({
      actor: 'host@example.org',
      action: 'member.erased',
      subject: { type: 'member', id: zed.id, name: null },
      details: { state: 'active' },
    })
    // Who did it, and that there was consent, is still on record.
    expect((await linesOf(run)).filter(({ action }) => action === 'members.consent')).toMatchObject([
      { details: {}, subject: { name: null } },
      { details: { consent: true, work_id: 'w' } },
    ])
    const posts = (await send('posts.list')).body.items
    expect(posts.map(({ title }: { title: string }) => title)).toContain('Kept')
    const again = { body: run.person, headers: { 'idempotency-key': 'import-1' } }
    expect(await send('members.create', again)).toMatchObject({ status: 422, body: { error: expect.stringContaining('erased') } })
    expect((await send('members.create', { body: run.person })).status).toBe(201)
  })

  test('a second time returns the same, and emits and records nothing but the order to the relay', async () => {
    const run = await communityWithTraces()
    const first = await run.community.members.erase('1', run.zed.id)
    const [lines, before] = [await linesOf(run), await stored(run)]
    run.newEvents()
    expect(await run.community.members.erase('1', run.zed.id)).toEqual(first)
    expect(await linesOf(run)).toEqual(lines)
    expect(await stored(run)).toBe(before)
    expect(run.newEvents()).toEqual([])
    expect(erasures(run.records)).toEqual([[run.zed.id], [run.zed.id]])
  })

  test.each(['members.delete', 'members.remove_from_network'])('after %s it leaves nothing either', async (how) => {
    const run = await communityWithTraces()
    expect((await run.send(how, { params: { id: run.zed.id } })).status).toBe(204)
    run.newEvents()
    await run.community.members.erase('1', run.zed.id)
    expect(await stored(run)).not.toMatch(traces)
    expect(run.newEvents()).toEqual([])
  })

  test('several concurrent calls erase one person once', async () => {
    const run = await communityWithTraces()
    const erase = () => run.community.members.erase('1', run.zed.id)
    const all = await Promise.all([erase(), erase(), erase()])
    for (const each of all) expect(each).toMatchObject({ state: 'deleted', email: '', erased_at: now })
    expect(typesOf(run.newEvents())).toEqual(['MemberLeftHook'])
    expect((await linesOf(run)).filter(({ action }) => action === 'member.erased')).toHaveLength(1)
    expect(await stored(run)).not.toMatch(traces)
  })

  test('revokes the keys that act as the person, takes their names, and leaves other keys', async () => {
    const run = await createTestCommunity()
    const { community } = run
    const zed = await newMember(run, 'zed')
    const key = { network: '1', scopes: ['*'] }
    const made = await community.keys.create({ ...key, name: 'Zedekiah at home', member_id: zed.id })
    const former = await community.keys.create({ ...key, name: 'Zedekiah at work', member_id: zed.id })
    await community.keys.revoke('1', former.key.id)
    const others = await community.keys.create({ ...key, name: 'Export' })
    const statusWith = async (token: string) =>
      (await request(community, 'GET', '/admin/v1/networks/1/members', { headers: { authorization: `Bearer ${token}` } })).status
    expect(await statusWith(made.token)).toBe(200)
    await community.members.erase('1', zed.id)
    expect([await statusWith(made.token), await statusWith(others.token)]).toEqual([401, 200])
    expect(await stored(run)).not.toMatch(traces)
    const names = [made, former].map(({ key: { redacted: name } }) => ({ name, status: 'Revoked' }))
    expect(await community.keys.list('1')).toMatchObject([{}, ...names, { name: 'Export', status: 'Active' }])
    const lines = (await linesOf(run)).filter(({ subject: { id } }) => id === made.key.id)
    expect(lines).toMatchObject([
      { action: 'key.revoked', subject: { name: null } },
      { action: 'key.created', subject: { name: null }, details: { scopes: ['*'], member_id: zed.id } },
    ])
    const before = await stored(run)
    await community.members.erase('1', zed.id)
    expect(await stored(run)).toBe(before)
  })

  test('takes every invite to the person, and tells the relay of their mails', async () => {
    const run = await createTestCommunity()
    const plan = await run.community.notify.plan({ network: '1', name: 'Plan', pricing_type: 'free' })
    const invite = async (recipient_email: string) => (await run.send('invites.create', { body: { recipient_email } })).body
    const accepted = await invite('zed@example.org')
    const zed = await run.community.acceptInvite({ network: '1', invite: accepted.id, first_name: 'Zed' })
    const params = { plan_id: plan.id }
    const byId = (await run.send('plan_invites.create', { params, query: { user_id: zed.id } })).body
    const other = await invite('other@example.org')
    await run.send('members.delete', { params: { id: zed.id } })
    const again = await invite('zed@example.org')
    await run.community.members.erase('1', zed.id)
    const left = (await run.send('invites.list')).body.items.map(({ id }: { id: string }) => id)
    expect(left).toEqual([other.id])
    const told = erasures(run.records).flat()
    for (const { id } of [accepted, again, zed]) expect(told).toContain(id)
    expect((await run.send('plan_invites.show', { params: { ...params, id: byId.id } })).status).toBe(404)
  })

  test('leaves what belongs to another person who has the address by now', async () => {
    const run = await createTestCommunity()
    const old = await newMember(run, 'zed')
    await run.send('members.delete', { params: { id: old.id } })
    const heir = await newMember(run, 'zed', { first_name: 'Heir' })
    const plan = await run.community.notify.plan({ network: '1', name: 'Plan', pricing_type: 'free' })
    const made = await run.send('plan_invites.create', { params: { plan_id: plan.id }, query: { email: 'zed@example.org' } })
    await run.community.members.erase('1', old.id)
    const shown = await run.send('plan_invites.show', { params: { plan_id: plan.id, id: made.body.id } })
    expect(shown.status).toBe(200)
    const { items } = await run.community.members.list('1', { q: 'zed@example.org' })
    expect(items).toMatchObject([{ id: heir.id, first_name: 'Heir', email: 'zed@example.org' }])
  })

  test('keeps an option that others have chosen, an image that others show, and what a host uploaded', async () => {
    const { ports, files } = testPorts()
    const run = await createTestCommunity({ ports })
    const [grace, alan] = await createMembers(run, 'Grace', 'Alan')
    const field = await companyField(run)
    for (const { id } of [grace, alan]) await company(run, field.id, id, 'Navy')
    const upload = (as: string) =>
      run.community.call('assets.create', {
        ...{ network: '1', as },
        body: { asset_style: 'post', asset_file: new File([png], 'a.png') },
      })
    const { url } = await upload(run.owner.id)
    for (const { id } of [grace, alan]) await run.community.notify.memberProfile({ network: '1', member_id: id, avatar: url })
    await upload(alan.id)
    await run.send('members.update', { params: { id: alan.id }, body: { role: 'host' } })
    await run.community.members.erase('1', grace.id)
    await run.community.members.erase('1', alan.id)
    // The shared image goes with the last who showed it; the other upload was a host's.
    expect(files.size).toBe(1)
    const options = (await run.send('options.list', { params: { custom_field_id: field.id } })).body.items
    expect(options).toMatchObject([{ title: 'Navy', member_count: 0 }])
  })

  test('takes the avatar that another person has uploaded for them, under a path of the origin too', async () => {
    const { ports, files } = testPorts()
    const { assets } = ports
    const put: AssetStore['put'] = async (bytes, file) => URL.parse((await assets?.put(bytes, file)) ?? '')?.pathname ?? ''
    const run = await createTestCommunity({ ports: { ...ports, ...(assets ? { assets: { ...assets, put } } : {}) } })
    const [grace] = await createMembers(run, 'Grace')
    const asset_file = new File([png], 'a.png')
    const { url } = await run.community.call('assets.create', { network: '1', body: { asset_style: 'avatar', asset_file } })
    expect(url).not.toBeNull()
    await run.community.notify.memberProfile({ network: '1', member_id: grace.id, avatar: url })
    expect(files.size).toBe(1)
    await run.community.members.erase('1', grace.id)
    expect(files.size).toBe(0)
  })

  test('a store of uploads that fails breaks it off, and the next one finishes it', async () => {
    const run = await communityWithTraces()
    const { ports } = testPorts()
    let fails = true
    const assets = ports.assets && {
      ...ports.assets,
      remove: async () => {
        if (fails) throw new Error('disk away')
      },
    }
    const { createCommunity } = await import('../../../lib/index.ts')
    const broken = createCommunity({ storage: run.storage, clock: run.clock, ports: { ...ports, ...(assets ? { assets } : {}) } })
    await expect(broken.members.erase('1', run.zed.id)).rejects.toMatchObject({ status: 503 })
    expect((await broken.members.list('1', { state: 'deleted' })).items).toMatchObject([{ erased_at: null }])
    fails = false
    expect(await broken.members.erase('1', run.zed.id)).toMatchObject({ erased_at: now })
    expect(await stored(run)).not.toMatch(traces)
  })

  test('the last host is refused, and stays whole', async () => {
    const run = await createTestCommunity()
    const before = await stored(run)
    await expect(run.community.members.erase('1', run.owner.id)).rejects.toMatchObject({ status: 422 })
    expect(await stored(run)).toBe(before)
  })

  test('many stored responses and lines are looked through in batches', async () => {
    const run = await createTestCommunity()
    const [grace] = await createMembers(run, 'Grace')
    for (let n = 0; n < 230; n++) {
      const parts = { headers: { 'idempotency-key': `k${n}` }, params: { id: grace.id }, body: { first_name: `Gracious${n}` } }
      expect((await run.send('members.update', parts)).status).toBe(200)
    }
    expect(await stored(run)).toContain('Gracious')
    await run.community.members.erase('1', grace.id)
    expect(await stored(run)).not.toContain('Gracious')
  })

  test('a member of another network is not found', async () => {
    const run = await createTestCommunity()
    const { owner } = await run.community.networks.create({
      ...{ subdomain: 'other', title: 'Other' },
      owner: { email: 'o@example.org', first_name: 'O', last_name: 'O' },
    })
    for (const call of [run.community.members.erase, run.community.members.unban])
      await expect(call('1', owner.id)).rejects.toMatchObject({ status: 404 })
  })
})
