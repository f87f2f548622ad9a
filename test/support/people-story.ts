/**
 * The story of an admin with 5,000 members, told with commands of `folkmoot` alone. What members do themselves, and what the host
 * application reports, is set up through the library.
 */
import assert from 'node:assert/strict'
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { sqliteOutbox, sqliteStorage } from '../../adapters/storage/sqlite.ts'
import { startRelay } from '../../daemon/relay/relay.ts'
import { createCommunity } from '../../lib/index.ts'
import type { Id } from '../../lib/storage/table.ts'
import type { Json } from './json.ts'
import type { Ended } from './program.ts'

/** What a step took. */
export interface Step {
  readonly title: string
  readonly milliseconds: number
}

/** Runs a command of `folkmoot` to its end. */
export type RunCommand = (...args: readonly string[]) => Promise<Ended>

const marks = { email: 'Zed.Quill@example.org', first_name: 'Zedekiah', last_name: 'Quillfeather', bio: 'paints by the sea' }
const hour = 3_600_000
const june = '2025-06-01'
const columns = ['Mail=email', 'First name=first_name', 'Last name=last_name', 'Last visit=last_visited_at']

/** A day in May, or in July. */
const visited = (number: number, isIdle: boolean): string =>
  `2025-${isIdle ? '05' : '07'}-${String(1 + (number % 28)).padStart(2, '0')}`

interface Person {
  readonly email: string
  readonly first_name: string
  readonly last_name: string
  readonly visited: string
}

/** A member as a spreadsheet has them: with quotes, accents and semicolons. */
const person = (number: number, isIdle: boolean): Person => ({
  email: `member${number}@example.org`,
  first_name: ['Zoë', 'Bela', 'Ívar', '"Kit"'][number % 4] ?? '',
  last_name: `Birch; ${number}`,
  visited: visited(number, isIdle),
})

const quoted = (text: string): string => `"${text.replaceAll('"', '""')}"`
const fileOf = (people: readonly Person[]): string =>
  ['Mail;First name;Last name;Last visit', ...people.map((each) => Object.values(each).map(quoted).join(';'))].join('\r\n')

/** The files below a directory that hold one of the marks. */
function filesWithMarks(directory: string): readonly string[] {
  return readdirSync(directory, { recursive: true, encoding: 'utf8' }).flatMap((name) => {
    const path = join(directory, name)
    if (!statSync(path).isFile()) return []
    const text = readFileSync(path, 'latin1').toLowerCase()
    return Object.values(marks).flatMap((mark) => (text.includes(mark.toLowerCase()) ? [`${name}: ${mark}`] : []))
  })
}

/**
 * Plays the story in an empty directory, and checks each step.
 * @param members how many members the first file has
 * @param run runs a command
 * @returns what each step took
 */
export async function playStory(directory: string, members: number, run: RunCommand): Promise<readonly Step[]> {
  const steps: Step[] = []
  const data = join(directory, 'data')
  const storageAddress = `sqlite:${join(data, 'community.sqlite')}`
  const timed = async <T>(title: string, work: () => Promise<T>): Promise<T> => {
    const begun = performance.now()
    const result = await work()
    steps.push({ title, milliseconds: performance.now() - begun })
    return result
  }
  /** A command that has to succeed. */
  const command = async (...args: readonly string[]): Promise<string> => {
    const { code, stdout, stderr } = await run(...args, '--storage', storageAddress)
    assert.deepEqual([code, stderr], [0, ''], `folkmoot ${args.join(' ')}: ${stderr}`)
    return stdout
  }
  const one = async (...args: readonly string[]): Promise<Json> => JSON.parse(await command(...args, '--json'))
  const all = async (...args: readonly string[]): Promise<readonly Json[]> =>
    (await command(...args, '--json')).split('\n').flatMap((line) => (line === '' ? [] : JSON.parse(line)))

  const owner = ['--owner-email', 'ada@example.org', '--owner-name', 'Ada Ash', '--plan', 'unlimited', '--email-visibility']
  mkdirSync(data)
  await timed('create a network', () => command('networks', 'create', '--subdomain', 'demo', '--title', 'Demo', ...owner))

  // An integration that gets every event, and a relay beside the commands.
  const receiver = createServer((request, response) => {
    request.resume().on('end', () => response.writeHead(204).end())
  })
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
  const address = receiver.address()
  assert(typeof address === 'object' && address !== null)
  const path = join(data, 'community.sqlite')
  const storage = await sqliteStorage({ path })
  const outbox = await sqliteOutbox(path, true)
  const community = createCommunity({ storage, allowHttp: true })
  await community.endpoints.upsert({ network: 'demo', url: `http://127.0.0.1:${address.port}/hook`, token: null })
  const relay = await startRelay({ outbox: storageAddress, settings: { allowHttp: true, allowPrivate: true } })
  const isDelivered = async () => (await outbox.backlog({})).count === 0 && (await relay.store.counts()).pending === 0
  const delivered = async () => {
    while (!(await isDelivered())) await new Promise((resolve) => setTimeout(resolve, 20))
  }
  const network = 'demo'

  try {
    const plan = await community.notify.plan({ network, name: 'Patron', pricing_type: 'nonpaid' })

    // 40 of the 200 patrons have not come since May, and some of the others.
    const patrons = Array.from({ length: 200 }, (_, number) => person(number, number < 40))
    const others = Array.from({ length: members }, (_, number) => person(1000 + number, number < members / 10))
    const { bio: _, ...named } = marks
    const [patronFile, otherFile] = [join(directory, 'patrons.csv'), join(directory, 'others.csv')]
    writeFileSync(patronFile, fileOf([...patrons, { ...named, visited: visited(1, false) }]))
    writeFileSync(otherFile, fileOf(others))
    const mapped = columns.flatMap((each) => ['--map', each])
    const importFile = (file: string, name: string, ...more: readonly string[]) =>
      one('members', 'import', file, ...mapped, '--name', name, ...more)
    await timed('preview an import', () => one('members', 'import', otherFile, ...mapped, '--name', 'Others', '--preview'))
    assert.equal((await all('members', 'list')).length, 1)
    await timed(`import ${members} members`, async () => {
      const { created, refused_file } = await importFile(otherFile, 'Others')
      assert.deepEqual([created, refused_file], [members, undefined])
    })
    await timed('import 201 more with a plan', async () => {
      const { created, refused_file } = await importFile(patronFile, 'Patrons', '--plan', plan.id)
      assert.deepEqual([created, refused_file], [201, undefined])
    })
    await timed('import the first file again', async () => {
      const { created, known } = await importFile(otherFile, 'Others')
      assert.deepEqual({ created, known }, { created: 0, known: members })
    })

    const idle = ['--plan-id', plan.id, '--last-visited-before', june]
    const found = await timed('find the forty', () => all('members', 'list', ...idle))
    assert.deepEqual(
      found.map(({ email }) => email).toSorted(),
      patrons
        .slice(0, 40)
        .map(({ email }) => email)
        .toSorted(),
    )
    const { id: idleTag } = await community.call('tags.create', { network, body: { title: 'Idle patrons' } })
    const tagging = ['members', 'bulk', 'tag', idleTag, ...idle]
    const planned = await timed('preview tags for them', () => one(...tagging, '--preview'))
    assert.equal(planned.rows.member_segments.inserted, 40)
    assert.deepEqual(await all('members', 'list', '--tag-id', idleTag), [])
    const { done, refused } = await timed('tag them', () => one(...tagging, '--yes'))
    assert.deepEqual([done, refused], [40, 0])
    assert.equal((await all('members', 'list', '--tag-id', idleTag)).length, 40)
    const exported = join(directory, 'idle.csv')
    const chosen = ['--what', 'members', '--format', 'csv', '--tag-id', idleTag]
    await timed('export them', () => command('export', ...chosen, '--true-addresses', '--to', exported))
    const texts = readFileSync(exported, 'utf8')
    for (const { email } of found) assert(texts.includes(email))
    assert.equal(texts.trimEnd().split('\r\n').length, 41)
    const [zed] = await timed('find one by a part of the name', () => all('members', 'list', '--search', 'quillf'))
    assert.equal(zed?.email, marks.email)
    const [ben, cleo] = found
    assert(ben && cleo && zed)

    // What people do: Ben writes and is reported, Zed leaves something everywhere.
    const space = await community.call('spaces.create', { network, body: { name: 'Lounge' } })
    const post = (author: Id, title: string) =>
      community.call('posts.create', { network, as: author, body: { title, description: title, space_id: space.id } })
    for (const { id } of [ben, cleo, zed])
      await community.call('space_members.create', { network, params: { space_id: space.id }, query: { user_id: id } })
    for (let number = 0; number < 37; number++) await post(ben.id, `Buy ${number}`)
    const { id: post_id } = await post(ben.id, 'Buy all')
    const reported = await post(cleo.id, 'Cheap watches')
    const report = await community.notify.abuseReport({
      ...{ network, member_id: zed.id, targetable_type: 'Post', targetable_id: reported.id },
      ...{ report_type: 'spam', reason: 'It has nothing to do with painting.' },
    })
    await community.notify.memberProfile({ network, member_id: zed.id, bio: marks.bio, location: 'Delft' })
    await community.call('comments.create', {
      network,
      as: zed.id,
      params: { post_id },
      body: { text: 'No, thanks.' },
    })

    const preview = await timed('preview a ban', () => one('members', 'ban', ben.id, '--reason', 'Spam', '--preview'))
    const before = await one('members', 'show', ben.id)
    assert.deepEqual([before.state, before.posts.total], ['active', 38])
    assert.match(preview.sentence, /nothing was changed/)
    await timed('ban', () => command('members', 'ban', ben.id, '--reason', 'Spam'))
    const banned = await timed('show who was banned', () => one('members', 'show', ben.id))
    assert.deepEqual([banned.state, banned.ban_reason, banned.posts.total], ['banned', 'Spam', 38])

    const [vip, vips] = await Promise.all(
      ['VIP', 'V.I.P.'].map((title) => community.call('tags.create', { network, body: { title } })),
    )
    assert(vip && vips)
    const tag = (member_id: Id, tag_id: Id) =>
      community.call('member_tags.create', { network, params: { member_id }, body: { tag_id } })
    for (const { id } of found.slice(1, 21)) await tag(id, vip.id)
    for (const { id } of found.slice(11, 31)) await tag(id, vips.id)
    await timed('merge two tags of twenty', () => command('tags', 'merge', vips.id, vip.id))
    const tagged = await all('members', 'list', '--tag-id', vip.id)
    assert.equal(tagged.length, 30)
    const tags = await timed('list tags', () => all('tags', 'list'))
    assert.equal(tags.find(({ id }) => id === vip.id)?.member_count, 30)

    const open = await timed('list open reports', () => all('reports', 'list'))
    assert.deepEqual(
      open.map(({ id }) => id),
      [report.id],
    )
    await timed('close a report and delete what it is about', () => command('reports', 'close', report.id, 'delete_content'))
    assert.deepEqual(await all('reports', 'list'), [])

    const handed = join(directory, 'zed.ndjson')
    await timed('hand one person their data', () => command('members', 'export', zed.id, '--to', handed))
    const theirs = readFileSync(handed, 'utf8')
    for (const mark of Object.values(marks)) assert(theirs.includes(mark), mark)
    assert(theirs.includes('No, thanks.'))
    await timed('erase a person', () => command('members', 'erase', zed.id, '--yes'))
    const [gone] = await all('members', 'list', '--search', zed.id)
    assert.deepEqual([gone?.state, gone?.email, gone?.first_name], ['deleted', '', ''])
    await timed('deliver every webhook', delivered)
    while ((await relay.store.purge({ delivered: 0, dead: 0, now: relay.now() + 2 * hour })) > 0);
    await relay.store.compact()
  } finally {
    await outbox.close()
    await relay.close(0)
    receiver.close()
    await community.close()
  }
  assert.deepEqual(filesWithMarks(data), [])
  return steps
}
