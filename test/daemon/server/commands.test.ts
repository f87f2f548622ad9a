/** The commands for networks, members, keys and endpoints, and how they refuse. */
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { directoryAssets } from '../../../adapters/ports/directory-assets.ts'
import { eraseMember } from '../../../daemon/server/commands/members/former-members.ts'
import { openStorage } from '../../../daemon/server/storage/open.ts'
import { createCommunity } from '../../../lib/index.ts'
import { environment, program, run } from '../../support/command.ts'
import { temporaryDirectory } from '../../support/directory.ts'
import type { Json } from '../../support/json.ts'
import { ended, folkmoot } from '../../support/program.ts'

const owner = ['--owner-email', 'ada@example.org', '--owner-name', 'Ada Ash']

/** A storage with one network, and commands on it: what they print as JSON, or the sentence that refuses them. */
async function storageWithNetwork() {
  const directory = temporaryDirectory()
  const storage = ['--storage', `sqlite:${join(directory, 'db.sqlite')}`]
  const refusal = async (...args: readonly string[]) => (await folkmoot(...args, ...storage)).refused
  const text = async (...args: readonly string[]) => (await folkmoot(...args, ...storage)).lines.join('\n')
  const warned = async (...args: readonly string[]) => (await folkmoot(...args, ...storage)).warnings
  const all = async (...args: readonly string[]): Promise<Json[]> => {
    const { lines, refused } = await folkmoot(...args, ...storage, '--json')
    expect([args, refused]).toEqual([args, undefined])
    return lines.flatMap((line) => line.split('\n')).map((line) => JSON.parse(line) as Json)
  }
  const one = async (...args: readonly string[]): Promise<Json> => (await all(...args))[0]
  const network = await one('networks', 'create', '--subdomain', 'paint-pals', '--title', 'Paint Pals', ...owner)
  return { directory, storage, refusal, warned, text, all, one, network }
}

test('a first network that is refused leaves nothing, so that no relay takes its empty outbox for one in use', async () => {
  const directory = temporaryDirectory()
  const create = (subdomain: string) =>
    folkmoot(
      'networks',
      'create',
      '--storage',
      `lowdb:${join(directory, 'db.json')}`,
      '--subdomain',
      subdomain,
      '--title',
      'Paint',
      ...owner,
    )
  expect((await create('No spaces')).refused).toContain('subdomain must be')
  expect(await readdir(directory)).toEqual([])
  expect((await create('paint-pals')).refused).toBeUndefined()
  expect((await readdir(directory)).toSorted()).toEqual(['db.json', 'outbox'])
})

test('networks are listed, shown and changed; what is left out stays', async () => {
  const { one, all, text, refusal, network } = await storageWithNetwork()
  expect(network).toMatchObject({ service_plan: 'standard', member_email_visibility: false })
  const change = ['--plan', 'premium', '--email-visibility']
  expect(await one('networks', 'update', 'paint-pals', ...change)).toMatchObject({
    title: 'Paint Pals',
    service_plan: 'premium',
    member_email_visibility: true,
  })
  expect(await one('networks', 'update', '--title', 'Friends', '--no-email-visibility')).toMatchObject({
    title: 'Friends',
    service_plan: 'premium',
    member_email_visibility: false,
  })
  expect(await one('networks', 'update', '--read-only')).toMatchObject({ title: 'Friends', read_only: true })
  expect(await text('networks', 'list')).toMatch(/refused/)
  expect(await refusal('networks', 'update', '--title', 'Others')).toMatch(/read-only/)
  expect(await text('networks', 'update', '--read-only')).toBe(
    'Network paint-pals is read-only: every write gets a 503. `folkmoot networks update paint-pals --no-read-only` takes writes again.',
  )
  expect(await one('networks', 'update', '--no-read-only')).toMatchObject({ title: 'Friends', read_only: false })
  expect(await text('networks', 'update', '--no-read-only')).toBe('Network paint-pals takes writes again.')
  expect(await text('networks', 'update', '--title', 'Friends')).toBe('Network paint-pals is changed.')
  expect(await one('networks', 'show', network.id)).toEqual((await all('networks', 'list'))[0])
  expect(await text('networks', 'list')).toContain('paint-pals')
  expect(await refusal('networks', 'update')).toMatch(/^name a change: --title/)
  await one('networks', 'create', '--subdomain', 'knitters', '--title', 'Knitters', ...owner)
  expect(await refusal('networks', 'show')).toMatch(/^choose a network after the command: \d+ \(paint-pals\), \d+ \(knitters\)$/)
  expect(await refusal('keys', 'list')).toMatch(/^choose a network with --network/)
})

test('consent is recorded for one member, by id or address, and for all of them', async () => {
  const { one, refusal, network } = await storageWithNetwork()
  expect(await one('members', 'consent', '--all')).toEqual({ network_id: network.id, members: 1, consent: true })
  expect(await one('members', 'consent', '--email', 'ada@example.org', '--withdraw')).toMatchObject({ consent: false })
  expect(await one('members', 'consent', '--member', network.owner_id)).toMatchObject({ members: 1, consent: true })
  expect(await refusal('members', 'consent')).toBe('choose members with one of --member, --email and --all')
  expect(await refusal('members', 'consent', '--email', 'nobody@example.org')).toMatch(/not found/)
})

/** A storage with a banned member, Grace, and a direct way into it. */
async function storageWithBanned() {
  const made = await storageWithNetwork()
  const directory = join(made.directory, 'assets')
  const { storage } = await openStorage(made.storage[1] ?? '', undefined, () => {}, 'refuse')
  const ports = { assets: directoryAssets({ directory, baseUrl: '/assets/' }), fileTypes: { sniff: async () => type } }
  const community = createCommunity({ storage, ports })
  const network = made.network.id
  const body = { email: 'grace@example.org', first_name: 'Grace', last_name: 'Hopper' }
  const grace = await community.call('members.create', { network, body })
  const asset_file = new File(['avatar'], 'grace.png')
  const { url } = await community.call('assets.create', {
    ...{ network, as: grace.id },
    body: { asset_style: 'avatar', asset_file },
  })
  await community.notify.memberProfile({ network, member_id: grace.id, avatar: `https://api.example.org${url}` })
  const space = await community.call('spaces.create', { network, body: { name: 'Garden' } })
  const params = { space_id: space.id, user_id: grace.id }
  await community.call('space_members.ban', { network, params, body: { ban_reason: 'Sold\u001b watches' } })
  await community.close()
  return { ...made, grace: String(grace.id), uploads: () => readdir(directory) }
}
const type = { content_type: 'image/png', extension: 'png' }

test('members: lists show who is banned and why, a ban is lifted, a person is erased with their uploads', async () => {
  const { all, one, text, refusal, warned, grace, uploads } = await storageWithBanned()
  expect(await all('members', 'list')).toMatchObject([
    { id: grace, state: 'banned', ban_reason: 'Sold\u001b watches', is_banned: true, left_by: { name: 'Ada Ash' } },
    { state: 'active', email: 'ada@example.org' },
  ])
  const shown = await text('members', 'list', '--state', 'banned', '--wide')
  for (const part of [grace, 'Grace Hopper', 'grace@example.org', 'watches', 'Ada Ash']) expect(shown).toContain(part)
  expect(shown).not.toContain('\u001b')
  expect(await all('members', 'list', '--search', 'grace hop')).toHaveLength(1)
  expect(await all('members', 'list', '--limit', '1')).toHaveLength(1)
  expect(await warned('members', 'list', '--limit', '1')).toEqual(['There are more than 1: --limit shows up to 10000.'])
  expect(await warned('members', 'list', '--limit', '2')).toEqual([])
  expect(await text('members', 'list', '--search', 'nobody')).toBe('There is no such member.')
  expect(await all('members', 'list', '--role', 'host', '--created-after', '2020-01-01T00:00:00Z')).toHaveLength(1)
  expect(await all('members', 'list', '--sort', '-name')).toMatchObject([{ first_name: 'Grace' }, { first_name: 'Ada' }])
  expect(await all('members', 'list', '--tag-id', '404', '--last-visited-before', '2020-01-01')).toEqual([])
  expect(await refusal('members', 'list', '--last-visited-after', 'June')).toBe(
    '--last-visited-after must be a day or time that exists, like 2026-11-20 or 2026-11-20T10:00:00Z, got "June"',
  )
  expect(await refusal('members', 'list', '--sort', 'age')).toMatch(/--sort .*age.* created_at/)
  expect(await refusal('members', 'list', '--state', 'gone')).toMatch(/--state .*gone.* active, removed, banned, deleted/)
  expect(await refusal('members', 'list', '--limit', '0')).toMatch(/^--limit must be/)

  expect(await text('members', 'show', grace)).toMatch(/^state: +banned .*\n/m)
  expect(await refusal('members', 'ban', grace)).toBe('The member is banned already')
  expect(await one('members', 'unban', grace)).toMatchObject({ id: grace, state: 'removed', is_banned: false })
  expect(await one('members', 'ban', grace, '--reason', 'Again', '--keep-plans')).toMatchObject({ ban_reason: 'Again' })
  expect(await text('members', 'unban', grace)).toBe(`The ban of member ${grace} is lifted.`)
  expect(await refusal('members', 'unban', grace)).toBe('The member is not banned')
  expect(await refusal('members', 'unban', '999')).toBe('network paint-pals has no member 999: see `folkmoot members list`')

  expect(await refusal('members', 'erase', grace)).toMatch(/^an erasure cannot be undone: add --yes/)
  expect(await uploads()).toHaveLength(1)
  expect(await one('members', 'erase', grace, '--yes')).toMatchObject({ id: grace, state: 'deleted', email: '' })
  expect(await text('members', 'erase', grace, '--yes')).toBe(`Member ${grace} is erased.`)
  expect(await uploads()).toEqual([])
  expect(await text('members', 'list', '--state', 'deleted')).toContain('deleted, erased')
  expect(await refusal('members', 'erase', '999', '--yes')).toBe(
    'network paint-pals has no member 999: see `folkmoot members list`',
  )
  const lines = await all('audit', 'list', '--subject', `member:${grace}`)
  expect(lines.map(({ action }) => action)).toEqual(['member.erased', 'member.unbanned', 'member.banned', 'member.unbanned'])
  expect(lines[0].actor).toMatch(/^cli:/)
})

test('a member is shown, promoted, removed and banned, and the last host stays', async () => {
  const { one, text, refusal, all, network } = await storageWithNetwork()
  const [ada] = await all('members', 'list')
  const { id: grace } = await one('members', 'list', '--limit', '1')
  expect(grace).toBe(ada.id)
  expect(await refusal('members', 'ban', ada.id)).toMatch(/^This is the last host/)
  expect(await refusal('members', 'role', ada.id, 'queen')).toMatch(/queen.* host, moderator, contributor/)
  expect(await refusal('members', 'remove', '999')).toBe('network paint-pals has no member 999: see `folkmoot members list`')
  expect(await one('members', 'role', ada.id, 'host')).toMatchObject({ id: ada.id, role: 'host', network_id: network.id })
  const shown = await text('members', 'show', ada.id)
  expect(shown).toMatch(/^name: +Ada Ash\naddress: +ada@example.org\nstate: +active, full host\njoined: /)
})

test('members are imported from CSV and NDJSON, and refused rows are listed', async () => {
  const { directory, one, all, text, refusal } = await storageWithNetwork()
  const file = join(directory, 'people.csv')
  await writeFile(file, 'Mail;name;Shoe\r\ngrace@example.org;Grace Oak;43\r\nno address;Ben;40\r\n')
  expect(await refusal('members', 'import', file, '--map', 'E-Mail=email')).toMatch(
    /has no column "E-Mail"; it has Mail, name, Shoe$/,
  )
  expect(await refusal('members', 'import', file)).toMatch(/^the file has no column email; it has Mail.* --map "Mail=email"$/)
  expect(await refusal('members', 'import', join(directory, 'none.csv'))).toMatch(
    /none.csv can't be read: there is no such file$/,
  )
  const report = await one('members', 'import', file, '--map', 'Mail=email', '--name', 'Spring', '--tag', 'Founder')
  const refused_file = `${file}.refused.csv`
  const counts = { rows: 2, created: 1, updated: 0, known: 0, refused: 1 }
  expect(report).toEqual({ name: 'Spring', ...counts, ignored: ['Shoe'], refused_file })
  expect(readFileSync(refused_file, 'utf8')).toMatch(/^row,email,column,reason,is_imported\r\n2,no address,email,email must be/)
  const lines = join(directory, 'people.ndjson')
  await writeFile(lines, '{"email":"grace@example.org"}\n{"email":"ida@example.org","first_name":"Ida"}\n')
  const printed = await text('members', 'import', lines, '--name', 'Spring')
  expect(printed).toContain('1 member of paint-pals created, 0 updated, 1 was there, 0 rows refused.')
  const tag = (await all('tags', 'list')).find(({ title }) => title === 'Spring')
  expect(tag).toMatchObject({ member_count: 2 })
  expect(await all('members', 'list', '--tag-id', tag?.id ?? '')).toHaveLength(2)
  const [grace] = await all('members', 'list', '--search', 'grace')
  expect(await text('members', 'show', grace.id)).toMatch(/\ntimeline:\n.* Grace Oak got the tag “Spring”, by \S/s)
})

test('an import that ends in the middle of its file says what is done, and lists all that was refused until then', async () => {
  const { directory, storage, one, refusal } = await storageWithNetwork()
  const file = join(directory, 'people.csv')
  const wrong = 'yesterday,nowhere,none'
  const lines = Array.from({ length: 450 }, (_, n) => `m${n}@example.org,M${n},${wrong},"${'x'.repeat(300)};${'y'.repeat(300)}"`)
  const head = 'email,first_name,last_visited_at,commercial_email_consent,avatar,tags'
  await writeFile(file, [head, ...lines.map((line) => line.replace('nowhere', 'no')), 'n@example.org,N,,,,,Oak'].join('\n'))
  const { refused, warnings } = await folkmoot('members', 'import', file, ...storage)
  expect(refused).toBe(
    'file: row 451 has 7 values, and there are 6 columns: put values with a separator into quotes (it begins in line 452)',
  )
  expect(warnings).toEqual([
    'The import stopped after 400 rows: 400 members created, 0 updated, 0 refused. Import the file again once it is mended; members who are there are left alone.',
  ])
  const listed = () => readFileSync(`${file}.refused.csv`, 'utf8').trim().split('\r\n').length - 1
  expect(listed()).toBe(400 * 4)
  await writeFile(file, [head, ...lines.map((line) => line.replace('nowhere', 'no'))].join('\n'))
  expect(await one('members', 'import', file, '--update')).toMatchObject({ updated: 400, created: 50, refused: 0 })
  expect(listed()).toBe(450 * 4)
  expect(await refusal('members', 'import', file, '--refused', join(directory, 'none', 'list.csv'))).toMatch(
    /list.csv can't be written \(ENOENT\): name another place with --refused$/,
  )
})

test('a column that is to be no field, or the field of another column, is refused before the first row', async () => {
  const { directory, refusal, one, all } = await storageWithNetwork()
  const file = join(directory, 'people.csv')
  await writeFile(file, 'email,Mail,Town,name\nm@example.org,other@example.org,Ulm,Grace Oak\n')
  expect(await refusal('members', 'import', file, '--map', 'Mail=email')).toBe(
    'two columns are email: leave one of them out, such as with --map "email="',
  )
  expect(await refusal('members', 'import', file, '--map', 'Town=twon')).toMatch(
    /^--map: there is no field "twon"; there are email, /,
  )
  expect(await all('members', 'list')).toHaveLength(1)
  const report = await one('members', 'import', file, '--map', 'Mail=Email', '--map', 'email=', '--map', 'Town=location')
  expect(report).toMatchObject({ created: 1, ignored: [] })
  expect(existsSync(`${file}.refused.csv`)).toBe(false)
  expect(await all('members', 'list', '--search', 'other@example.org')).toMatchObject([{ email: 'other@example.org' }])
})

test('an import of several calls has one beginning and one end in the audit, and numbers its refused rows', async () => {
  const { directory, one, all } = await storageWithNetwork()
  const file = join(directory, 'people.ndjson')
  // All but one are refused, which is quick.
  const rows = Array.from({ length: 1001 }, (_, n) =>
    JSON.stringify(n === 700 ? { email: 'm@example.org', first_name: 'M' } : {}),
  )
  await writeFile(file, rows.join('\n'))
  const counts = { rows: 1001, created: 1, updated: 0, known: 0, refused: 1000 }
  const { refused_file } = await one('members', 'import', file, '--name', 'Spring')
  const details = (await all('audit', 'list', '--action', 'members.imported')).map((line) => line.details)
  expect(details).toMatchObject([{ stage: 'ended', name: 'Spring', ...counts }, { stage: 'started' }])
  const refused = readFileSync(refused_file, 'utf8').trim().split('\r\n').slice(1)
  expect(refused.map((line) => Number(line.split(',', 1)[0]))).toEqual(
    [...rows.keys()].map((n) => n + 1).filter((n) => n !== 701),
  )
})

test('one act is done for many members, of filters or of a file, after a look', async () => {
  const { directory, one, text, refusal, all } = await storageWithNetwork()
  const people = join(directory, 'people.ndjson')
  const rows = Array.from({ length: 30 }, (_, n) => JSON.stringify({ email: `m${n}@example.org`, first_name: `M${n}` }))
  await writeFile(people, `${rows.join('\n')}\n{"email":"wrong"}\n`)
  const look = await text('members', 'import', people, '--preview')
  expect(look).toMatch(
    /^30 members are added, .*nothing was changed\.\n {2}refused: row 31, email wrong, column email: email must/,
  )
  expect(await all('members', 'list')).toHaveLength(1)
  await one('members', 'import', people, '--tag', 'Founder')
  const tag = (await all('tags', 'list')).find(({ title }) => title === 'Founder')
  expect(await refusal('members', 'bulk', 'ban', '--yes')).toMatch(/^choose members by filters/)
  expect(await refusal('members', 'bulk', 'tag', '--role', 'contributor', '--yes')).toMatch(/^tag needs an id/)
  expect(await refusal('members', 'bulk', 'ban', '--tag-id', tag?.id ?? '')).toMatch(/^this is about 30 members: add --yes/)
  expect(await text('members', 'bulk', 'ban', '--tag-id', tag?.id ?? '', '--preview')).toMatch(
    /^30 members change.*nothing was changed/s,
  )
  expect(await refusal('members', 'bulk', 'tag', 'Idle', '--role', 'contributor', '--yes')).toMatch(/^there is no tag "Idle"/)
  expect(await one('members', 'bulk', 'untag', 'founder', '--search', 'm7', '--yes')).toMatchObject({ done: 1 })
  const list = join(directory, 'list.txt')
  await writeFile(list, 'M1@example.org\nm2@example.org\nwho@example.org\n')
  const removed = await text('members', 'bulk', 'remove', '--from', list, '--yes')
  expect(removed).toBe('2 members done, 0 refused, 1 not found.\n  who@example.org: no member')
  const report = await one('members', 'bulk', 'ban', '--role', 'contributor', '--reason', 'Spam', '--yes')
  expect(report).toMatchObject({ done: 30, refused: 0, missing: [] })
})

test('consent can be looked at before it is recorded', async () => {
  const { one, text, all } = await storageWithNetwork()
  const owner = (await all('members', 'list'))[0]
  for (const who of [['--all'], ['--member', owner.id], ['--email', owner.email]])
    expect(await text('members', 'consent', ...who, '--preview')).toMatch(/^1 member changes; 1 event, .*nothing was changed\.$/)
  expect(await all('audit', 'list', '--action', 'members.consent')).toEqual([])
  expect(await one('members', 'consent', '--all')).toMatchObject({ members: 1, consent: true })
})

test('a tag is created with a colour', async () => {
  const { one, text, all, refusal } = await storageWithNetwork()
  const create = ['tags', 'create', 'Gardener', '--color', '#00aa00', '--description', 'Of the garden']
  expect(await text(...create, '--preview')).toBe('1 tag, badge or option is added; no event; nothing was changed.')
  const { id } = await one(...create)
  const made = { id, title: 'Gardener', color: '#00aa00', description: 'Of the garden', member_count: 0 }
  expect(await all('tags', 'list')).toMatchObject([made])
  expect(await text('tags', 'create', 'Baker')).toMatch(/^Tag Baker \(\d+\) is created\.$/)
  expect(await refusal('tags', 'create', 'gardener')).toMatch(/^title /)
  expect(await refusal('tags', 'create', 'Red', '--color', 'red')).toMatch(/^color /)
  const [line] = await all('audit', 'list', '--subject', `tag:${id}`)
  expect(line).toMatchObject({ action: 'tag.created', actor: expect.stringMatching(/^cli:/) })
})

test('tags are listed with their counts and merged, and reports closed', async () => {
  const { one, all, text, refusal, network, storage } = await storageWithNetwork()
  const { storage: opened } = await openStorage(storage[1] ?? '', undefined, () => {}, 'refuse')
  const community = createCommunity({ storage: opened })
  const { call } = community
  const [from, into] = [
    await call('tags.create', { network: network.id, body: { title: 'Gardener' } }),
    await call('tags.create', { network: network.id, body: { title: 'gardening' } }),
  ]
  const params = { member_id: network.owner_id }
  await call('member_tags.create', { network: network.id, params, body: { tag_id: from.id } })
  const space = await call('spaces.create', { network: network.id, body: { name: 'Garden' } })
  const body = { space_id: space.id, title: 'Watches', description: 'Cheap' }
  const post = await call('posts.create', { network: network.id, body })
  const about = { targetable_type: 'Post', targetable_id: post.id, report_type: 'spam' } as const
  const report = await community.notify.abuseReport({ network: network.id, member_id: network.owner_id, ...about })
  await community.close()
  expect(await text('tags', 'list', '--unused')).toMatch(/gardening +unused/)
  expect(await refusal('tags', 'merge', from.id, from.id)).toBe('into must be another tag')
  expect(await one('tags', 'merge', from.id, into.id)).toMatchObject({ id: into.id, moved: 1, member_count: 1 })
  expect(await all('tags', 'list')).toMatchObject([{ id: into.id, member_count: 1 }])
  expect(await text('reports', 'list')).toMatch(/Watches/)
  expect(await refusal('reports', 'close', '999', 'dismiss')).toBe(
    'network paint-pals has no report 999: see `folkmoot reports list`',
  )
  expect(await text('reports', 'close', String(report.id), 'delete_content')).toContain('and the content deleted')
  expect(await text('reports', 'list')).toBe('There is no open report.')
  expect(await all('reports', 'list', '--closed')).toMatchObject([{ id: report.id, target: null }])
})

test('an erasure at a terminal asks, shows who it is, and takes only yes', async () => {
  const { storage, grace, all } = await storageWithBanned()
  const erase = async (answer: string) => {
    const asked: string[] = []
    const out = { line: () => {}, warn: () => {} }
    const ask = async (question: string) => {
      asked.push(question)
      return answer
    }
    const flags = { storage: storage[1] ?? '' }
    const refused = await eraseMember(grace, flags, out, ask).then(
      () => undefined,
      (error: Error) => error.message,
    )
    return { asked, refused }
  }
  const question = `Erase member ${grace} (Grace Hopper, grace@example.org) of paint-pals for good? Type yes: `
  expect(await erase('y')).toEqual({ asked: [question], refused: 'nothing is erased' })
  expect(await all('members', 'list', '--state', 'banned')).toHaveLength(1)
  expect(await erase('yes')).toEqual({ asked: [question], refused: undefined })
  expect(await all('members', 'list', '--state', 'deleted')).toMatchObject([{ email: '', is_banned: true }])
})

test('keys: lists show when they end and whose they are; a wrong scope names the right ones', async () => {
  const { one, text, refusal, network } = await storageWithNetwork()
  const key = ['keys', 'create', '--name', 'Connector']
  expect(await one(...key, '--scope', 'members:read', '--expires', '2999-01-01T00:00:00Z')).toMatchObject({
    token: expect.stringMatching(/^fmt_/),
    expires_at: '2999-01-01T00:00:00.000Z',
    member_id: network.owner_id,
  })
  expect(await refusal(...key, '--scope', '*', '--expires', '2999-01-01')).toBe(
    '--expires must be like 2027-01-01T00:00:00Z, got "2999-01-01"',
  )
  const listed = await text('keys', 'list', '--wide')
  for (const shown of ['2999-01-01T00:00:00.000Z', network.owner_id, 'Active', 'members:read']) expect(listed).toContain(shown)
  expect(await refusal(...key)).toMatch(/^--scope is required, one or more of \*, \*:read, .*members:read/)
  expect(await refusal(...key, '--scope', 'member:read')).toBe('there is no --scope "member:read": did you mean members:read?')
  expect(await refusal(...key, '--scope', 'zzzzzzzzzzzzzzzzz')).toMatch(/allowed: \*, \*:read/)
})

test('endpoints: what is left out stays, secrets come from files or are made and shown again on request', async () => {
  const { directory, one, all, text, refusal } = await storageWithNetwork()
  const url = ['--url', 'https://example.org/hook']
  expect(await refusal('endpoints', 'add', ...url)).toMatch(/--token-file, --token or --make-token$/)
  const keyFile = join(directory, 'hook.key')
  await writeFile(keyFile, 'hook-token\n')
  const flags = [
    '--token-file',
    keyFile,
    '--make-secret',
    '--event',
    'PostCreated',
    '--order',
    'fifo',
    '--rate',
    '2.5',
    '--name',
    'CRM',
  ]
  const { id, ...added } = await one('endpoints', 'add', ...url, ...flags)
  const [secret] = added.secrets
  expect(secret).toMatch(/^whsec_/)
  expect(added).not.toHaveProperty('token')
  expect(await one('endpoints', 'reveal', id)).toEqual({ id, token: 'hook-token', secrets: [secret] })
  expect(await text('endpoints', 'reveal', id)).toBe(`token  hook-token\nsecret ${secret}`)
  expect(await refusal('endpoints', 'reveal', '7')).toContain('has no endpoint 7')

  await one('endpoints', 'add', ...url, '--disabled')
  const expected = { id, events: ['PostCreatedHook'], order: 'fifo', rate_per_second: 2.5, name: 'CRM', signed: true }
  expect(await all('endpoints', 'list')).toEqual([expect.objectContaining({ ...expected, enabled: false })])
  expect(await one('endpoints', 'enable', id)).toMatchObject({ ...expected, enabled: true })
  expect(await one('endpoints', 'disable', id)).toMatchObject({ enabled: false })
  for (const order of ['subject', 'none', 'fifo']) {
    expect(await one('endpoints', 'update', id, '--order', order)).toMatchObject({ order })
    expect(await all('endpoints', 'list')).toMatchObject([{ order }])
  }
  expect(await one('endpoints', 'add', ...url, '--order', 'subject')).toMatchObject({ id, order: 'subject' })
  for (const command of [
    ['update', id],
    ['add', ...url],
  ])
    expect(await refusal('endpoints', ...command, '--order', 'lifo')).toMatch(/--order .*lifo.* none, fifo, subject/)
  const update = ['--no-rate', '--all-events', '--name', '']
  expect(await one('endpoints', 'update', id, ...update)).toMatchObject({
    rate_per_second: null,
    events: null,
    name: null,
    signed: true,
  })

  const rotated = await one('endpoints', 'rotate', id, '--keep-old', '1h')
  expect(rotated.secrets[0]).toMatch(/^whsec_/)
  expect(rotated.secrets[0]).not.toBe(secret)
  expect(rotated.old_secrets_until).not.toBeNull()
  await writeFile(keyFile, 'new-hook-token')
  expect(await one('endpoints', 'rotate', id, '--token-file', keyFile)).not.toHaveProperty('token')
  const listed = `${await text('endpoints', 'list', '--wide')}${JSON.stringify(await all('endpoints', 'list'))}`
  for (const hidden of [secret, ...rotated.secrets, 'hook-token']) expect(listed).not.toContain(hidden)
  expect(await one('endpoints', 'update', id, '--unsigned')).toMatchObject({ signed: false })
  expect(await text('endpoints', 'remove', id)).toBe(`Endpoint ${id} (https://example.org/hook) is removed.`)
  expect(await text('endpoints', 'list')).toBe('There is no endpoint.')
})

test('values that a network, a key or a search cannot have are reported in the words of their option', async () => {
  const { refusal } = await storageWithNetwork()
  const create = ['networks', 'create', '--subdomain', 'No spaces', '--title', ' ', '--owner-email', 'x', '--owner-name', ' ']
  const named = [/^--subdomain must be/, /; --title can't be blank/, /; --owner-email must be/, /; --owner-name can't be blank/]
  for (const sentence of named) expect(await refusal(...create)).toMatch(sentence)
  expect(await refusal('networks', 'update', '--title', ' ')).toMatch(/^--title can't be blank$/)
  const key = ['keys', 'create', '--scope', '*', '--name']
  expect(await refusal(...key, ' ', '--member', 'x')).toMatch(/^--name can't be blank; --member must be an id/)
  expect(await refusal(...key, 'x', '--expires', '2001-01-01T00:00:00Z')).toBe('--expires must be in the future')
  expect(await refusal(...key, 'x', '--member', '99')).toMatch(/^--member must name a member of the network/)
  expect(await refusal('members', 'list', '--search', ' ')).toMatch(/^--search must be a text of 1 to 200 characters$/)
})

test('a record that is not there is refused with its id, the network, and the command that lists them', async () => {
  const { storage, refusal } = await storageWithNetwork()
  const commands = ['show 7', 'rotate 7', 'update 7 --name x', 'enable 7', 'disable 7', 'remove 7']
  for (const command of commands)
    expect([command, await refusal('endpoints', ...command.split(' '))]).toEqual([
      command,
      'network paint-pals has no endpoint 7: see `folkmoot endpoints list`',
    ])
  expect(await refusal('keys', 'revoke', '9')).toBe('network paint-pals has no key 9: see `folkmoot keys list`')
  expect(await refusal('members', 'consent', '--member', '9')).toBe(
    'network paint-pals has no member 9: see `folkmoot members list`',
  )
  expect(await refusal('endpoints', 'rotate', 'x')).toBe('id must be an id of digits, got "x"')
  expect(await ended('folkmoot', 'endpoints', 'show', '7', ...storage)).toMatchObject({ code: 1 })
})

test('an invalid endpoint is reported in the words of its option', async () => {
  const { refusal, text, directory } = await storageWithNetwork()
  const add = ['endpoints', 'add', '--url', 'https://example.org/hook'] as const
  const empty = join(directory, 'empty')
  await writeFile(empty, '\n')
  const refused: readonly (readonly [readonly string[], RegExp])[] = [
    [['--token', 'k', '--event', 'PostCreate'], /^there is no --event "PostCreate": did you mean PostCreatedHook/],
    [
      ['--token', 'k', '--event', 'PostMade'],
      /^there is no --event "PostMade": did you mean PostCreatedHook or PostUpdatedHook\?$/,
    ],
    [['--token', 'k', '--event', 'SunRose'], /^there is no --event "SunRose": `folkmoot trigger --list` shows all$/],
    [['--token', 'k', '--audience', 'host', '--event', 'PostCreated'], /^there is no --event "PostCreated" for --audience host/],
    [['--token', 'true'], /^--token true would be the token itself: use --make-token to make one$/],
    [['--token', 'a b'], /^--token must be 1 to 512 .*, or --make-token and --make-secret make one;/],
    [['--token', 'k', '--secret', 'abc'], /^--secret must be .*; or --make-token and --make-secret make one$/],
    [['--token', 'k', '--url', 'x'], /^--url must be an https /],
    [['--token', 'k', '--url', 'x', '--name', 'x'.repeat(300)], /^--url must be .*; --name must have at most 255 characters$/],
    [['--token', 'k', '--ca', '/etc/ca.pem'], /^--ca must be null or 1 to 100 letters/],
    [['--token', 'k', '--client-identity', 'a b'], /^--client-identity must be/],
    [['--token', 'k', '--header', 'Host: x'], /^--header: header "Host" /],
    [
      ['--token', 'k', '--filter', '{"pth":"/space_id","equals":1}'],
      /^--filter must have .*; "pth" is none of them, did you mean path\?$/,
    ],
    [['--token', 'k', '--filter', '{"path":"x","equals":1}'], /^--filter at path must be a JSON pointer/],
    [['--token', 'Bearer x'], /^--token is the token alone: the relay puts the word Bearer before it$/],
    [['--token', 'k', '--token-file', empty], /^--token and --token-file are the same/],
    [['--token-file', empty], /^--token-file .* is empty$/],
    [['--token-file', join(directory, 'none')], /^--token-file .* cannot be read \(ENOENT\)$/],
    [['--token', 'k', '--rate', '0'], /^--rate must be above 0/],
  ]
  for (const [flags, sentence] of refused)
    expect([flags, await refusal(...add, ...flags)]).toEqual([flags, expect.stringMatching(sentence)])
  expect(await text(...add, '--token', 'k', '--audience', 'host')).toMatch(
    /gets the mail to send, and reports of failing endpoints\./,
  )
})

test.each([
  ['add', ['--make-token', '--token', 'k']],
  ['add', ['--make-token', '--token-file', 'key']],
  ['add', ['--make-secret', '--secret', 'whsec_x']],
  ['add', ['--make-secret', '--secret-file', 'secret']],
  ['add', ['--secret-file', 'secret', '--secret', 'whsec_x']],
  ['add', ['--header-file', 'headers', '--header', 'X-A: b']],
  ['add', ['--all-events', '--event', 'PostCreated']],
  ['update', ['--remove-headers', '--header', 'X-A: b']],
  ['update', ['--remove-headers', '--header-file', 'headers']],
  ['rotate', ['--make-token', '--token-file', 'key']],
  ['rotate', ['--make-secret', '--secret', 'whsec_x']],
])('endpoints %s refuses %j: there is one way at a time to give a value', async (name, flags) => {
  const [first, second] = flags.filter((flag) => flag.startsWith('--'))
  const { code, stderr } = await ended(
    'folkmoot',
    'endpoints',
    name,
    ...(name === 'add' ? ['--url', 'https://example.org/'] : ['7']),
    ...flags,
  )
  expect(code).toBe(2)
  expect(stderr).toMatch(new RegExp(`'${first}\\b.*' cannot be used with option '${second}\\b`))
})

test('a pair of keys is made, and its public half is listed and shown', async () => {
  const { one, text, refusal } = await storageWithNetwork()
  const add = ['endpoints', 'add', '--url', 'https://example.org/hook', '--make-token'] as const
  const made = await one(...add, '--make-secret', 'ed25519')
  expect(made).toMatchObject({ secrets: [expect.stringMatching(/^whsk_/)], public_keys: [expect.stringMatching(/^whpk_/)] })
  const shown = await text('endpoints', 'show', made.id)
  expect(shown).toContain(`public_keys      ${made.public_keys[0]}`)
  expect(shown).not.toContain('whsk_')
  expect(await text('endpoints', 'list', '--wide')).toContain(made.public_keys[0])
  expect(await text('endpoints', 'rotate', made.id)).toMatch(/secret whsk_\S+\npublic whpk_/)
  expect(await refusal('endpoints', 'rotate', made.id, '--make-secret', 'rsa')).toContain(
    '--make-secret takes no value, or ed25519',
  )
  expect(await refusal('endpoints', 'show', '7')).toContain('has no endpoint 7')
})

test('a key comes by standard input, too, once', async () => {
  const { storage, refusal, one } = await storageWithNetwork()
  const add = ['endpoints', 'add', '--url', 'https://example.org/hook']
  const added = spawnSync(process.execPath, [program('folkmoot'), ...add, '--token-file', '-', ...storage], {
    input: 'hook-token\n',
    encoding: 'utf8',
    env: environment(),
  })
  expect([added.status, added.stderr]).toEqual([0, ''])
  const { id } = await one('endpoints', 'list')
  expect(await refusal('endpoints', 'rotate', id, '--token', 'hook-token')).toMatch(/must be new/)
  expect(await refusal(...add, '--secret-file', '-', '--secret-file', '-')).toBe('--secret-file can be - only once')
})

describe('a command that reads or changes', () => {
  test.each([
    ['sqlite', (directory: string) => `sqlite:${join(directory, 'typo.db')}`],
    ['lowdb', (directory: string) => `lowdb:${join(directory, 'typo', 'db.json')}`],
  ])('makes no storage of a mistyped %s name', async (_kind, address) => {
    const directory = temporaryDirectory()
    for (const command of [
      ['networks', 'list'],
      ['keys', 'create', '--name', 'x', '--scope', '*'],
      ['endpoints', 'list'],
    ])
      expect((await folkmoot(...command, '--storage', address(directory))).refused).toMatch(/^there is no storage at .*typo/)
    expect((await folkmoot('copy', '--from', address(directory), '--to', `sqlite:${join(directory, 'new')}`)).refused).toMatch(
      /^there is no storage at .*typo/,
    )
    expect(await readdir(directory)).toEqual([])
  })

  test('does not migrate a database: it names the command to run', async () => {
    const path = join(temporaryDirectory(), 'other.sqlite')
    const { DatabaseSync } = await import('node:sqlite')
    const database = new DatabaseSync(path)
    database.exec('CREATE TABLE mine (id INTEGER)')
    database.close()
    expect((await folkmoot('networks', 'list', '--storage', `sqlite:${path}`)).refused).toMatch(/run `folkmoot migrate` first/)
  })
})

test('--version and errors as JSON, with a sentence for a malformed certificate, from the process itself', async () => {
  const directory = temporaryDirectory()
  const version = run('folkmoot', '--version')
  const wrong = run('folkmoot', 'keys', 'list', '--storage', `lowdb:${join(directory, 'db.json')}`, '--json')
  const usage = await ended('folkmoot', 'keys', 'create', '--json')
  const noPem = join(directory, 'not.pem')
  await writeFile(noPem, 'not a certificate')
  const tls = await ended('folkmoot', 'serve', '--storage', 'memory:', '--port', '0', '--tls-cert', noPem, '--tls-key', noPem)
  expect([await version.ended, version.out.stdout]).toEqual([0, '0.1.0\n'])
  expect([await wrong.ended, JSON.parse(wrong.out.stderr)]).toEqual([2, { error: expect.stringMatching(/^there is no storage/) }])
  expect([usage.code, JSON.parse(usage.stderr)]).toEqual([2, { error: expect.stringContaining('--name') }])
  expect(tls).toMatchObject({ code: 2, stderr: expect.stringMatching(/^folkmoot: --tls-cert .*\n$/) })
  expect(existsSync(join(directory, 'db.json'))).toBe(false)
})

test('headers of an endpoint are given by options or in a file, and listed by their names alone', async () => {
  const { directory, one, text, refusal } = await storageWithNetwork()
  const add = ['endpoints', 'add', '--url', 'https://example.org/hook', '--make-token'] as const
  const { id, header_names } = await one(...add, '--header', 'X-Api-Key: gateway-secret', '--header', 'X-Tenant:7')
  expect(header_names).toEqual(['X-Api-Key', 'X-Tenant'])
  expect(await text('endpoints', 'list', '--wide')).toMatch(/X-Api-Key X-Tenant/)
  expect(await text('endpoints', 'list', '--json')).not.toContain('gateway-secret')
  const file = join(directory, 'headers')
  await writeFile(file, 'X-Other: one\n\n')
  expect(await one('endpoints', 'update', id, '--header-file', file)).toMatchObject({ header_names: ['X-Other'] })
  expect(await one('endpoints', 'update', id, '--name', 'CRM')).toMatchObject({ header_names: ['X-Other'] })
  expect(await one('endpoints', 'update', id, '--remove-headers')).toMatchObject({ header_names: [] })
  expect(await refusal('endpoints', 'update', id, '--header', 'none')).toContain(
    "--header must be a name and a value, such as 'X-Api",
  )
  expect(await refusal('endpoints', 'update', id, '--header', 'Host: a')).toContain('"Host" is set by the relay itself')
  const basic = await one('endpoints', 'update', id, '--header', 'Authorization: Basic YTpi')
  expect(basic).toMatchObject({ header_names: ['Authorization'] })
  expect(await refusal('endpoints', 'rotate', id, '--make-token')).toContain('`Authorization` is set from the token')
  const url = 'https://example.org/basic'
  const added = await one('endpoints', 'add', '--url', url, '--header', 'Authorization: Basic YTpi')
  expect(added).toMatchObject({ header_names: ['Authorization'] })
})

test('a filter of an endpoint is given as JSON, and none removes it', async () => {
  const { one, text, refusal } = await storageWithNetwork()
  const filter = { path: '/space_id', equals: '2001' }
  const { id } = await one(
    'endpoints',
    'add',
    '--url',
    'https://example.org/hook',
    '--make-token',
    '--filter',
    JSON.stringify(filter),
  )
  expect(await text('endpoints', 'list', '--wide')).toContain(JSON.stringify(filter))
  const again = await text('endpoints', 'add', '--url', 'https://example.org/hook', '--filter', JSON.stringify(filter))
  expect(again).toContain('gets every event for integrations, where its filter matches.')
  expect(await refusal('endpoints', 'update', id, '--filter', '{')).toContain('--filter must be JSON such as')
  expect(await refusal('endpoints', 'update', id, '--filter', '{"path":"x"}')).toContain(
    'filter must have one of all, any, not and changed',
  )
  expect(await one('endpoints', 'update', id, '--filter', 'none')).toMatchObject({ id, filter: null })
})

test('allowed addresses of an endpoint are given as a list, and can be removed', async () => {
  const { one, text, refusal } = await storageWithNetwork()
  const ranges = '192.0.2.5, 198.51.100.0/24'
  const { id } = await one('endpoints', 'add', '--url', 'https://example.org/hook', '--make-token', '--allow-addresses', ranges)
  expect(await text('endpoints', 'list', '--wide')).toContain('192.0.2.5 198.51.100.0/24')
  expect(await refusal('endpoints', 'update', id, '--allow-addresses', 'example.org')).toContain(
    '--allow-addresses must be null or a list of 1 to 100 addresses or ranges',
  )
  expect(await one('endpoints', 'update', id, '--no-allow-addresses')).toMatchObject({ id, allow_addresses: null })
})

test('a client identity and an authority of an endpoint are given by name, and can be removed', async () => {
  const { one, text, refusal } = await storageWithNetwork()
  const add = ['endpoints', 'add', '--url', 'https://example.org/hook', '--make-token']
  const { id } = await one(...add, '--client-identity', 'bank-one', '--ca', 'bank-root')
  const listed = await text('endpoints', 'list', '--wide')
  expect([listed.includes('bank-one'), listed.includes('bank-root')]).toEqual([true, true])
  expect(await refusal('endpoints', 'update', id, '--ca', '/etc/ca.pem')).toContain('ca must be null or 1 to 100 letters')
  expect(await one('endpoints', 'update', id, '--no-client-identity')).toMatchObject({ client_identity: null, ca: 'bank-root' })
  expect(await one('endpoints', 'update', id, '--no-ca')).toMatchObject({ client_identity: null, ca: null })
})
