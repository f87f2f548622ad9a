/** One act for many members in the panel: ticked ones, all of a filter, or a list. */
import { expect, test } from 'vitest'
import { admin, createTestPanel } from './support.ts'

const path = '1/members/bulk'

async function panelWithMembers(names: readonly string[], ...given: Parameters<typeof createTestPanel>) {
  const run = await createTestPanel(...given)
  const { community } = run
  const ids: string[] = []
  for (const name of names) {
    const body = { email: `${name.toLowerCase()}@example.org`, first_name: name, last_name: 'Test' }
    ids.push(String((await community.call('members.create', { network: '1', body })).id))
  }
  const tag = await community.call('tags.create', { network: '1', body: { title: 'Founder <b>' } })
  const holders = async () => (await community.members.list('1', { tag_id: tag.id })).items.map(({ first_name }) => first_name)
  /** Sends the form of a page, with the fields that a person fills in. */
  const send = (text: string, fields: Readonly<Record<string, string>> = {}) => {
    const [form = ''] = /<form method="post"[^>]*>[\s\S]*?<\/form>/.exec(text) ?? []
    const kept = [...form.matchAll(/<input type="hidden" name="(\w+)" value="([^"]*)"/g)].map(([, name, value = '']) => [
      name,
      value
        .replaceAll('&quot;', '"')
        .replaceAll('&#39;', "'")
        .replaceAll('&lt;', '<')
        .replaceAll('&gt;', '>')
        .replaceAll('&amp;', '&'),
    ])
    return run.post(path, { ...Object.fromEntries(kept), ...fields })
  }
  return { ...run, ids, tag, holders, send }
}

const three = ['Grace', 'Ben', 'Eve']

test('ticked members get a tag: chosen by name, previewed, done once it is confirmed', async () => {
  const { get, post, send, ids, tag, holders, community } = await panelWithMembers(three)
  const list = (await get('1/members')).text
  for (const id of ids) expect(list).toContain(`form="bulk" name="id" value="${id}"`)
  const choice = await post(path, [
    ['act', 'tag'],
    ['id', ids[0] ?? ''],
    ['id', ids[1] ?? ''],
  ])
  expect(choice.text).toContain('Founder &lt;b&gt;')
  const confirmation = await send(choice.text, { about: tag.id })
  expect(confirmation.text).toContain('Give a tag: 2 members')
  expect(confirmation.text).toMatch(/Preview: .*2 tags or badges of members are added.*nothing was changed/)
  expect(await holders()).toEqual([])
  const done = await send(confirmation.text)
  expect(done.text).toContain('2 done, 0 refused.')
  expect(await holders()).toEqual(['Ben', 'Grace'])
  const [line] = (await community.audit.list({ network: '1' })).items
  expect(line).toMatchObject({ action: 'members.bulk', actor: admin.actor, details: { done: 2 } })
})

test('all members of a filter are banned with a reason, and the last host is named', async () => {
  const { post, send, community } = await panelWithMembers(three)
  const confirmation = await post(path, { act: 'ban', all: '1', state: 'active' })
  expect(confirmation.text).toContain('Ban: 4 members')
  const done = await send(confirmation.text, { reason: 'Spam' })
  expect(done.text).toContain('3 done, 1 refused.')
  expect(done.text).toContain('This is the last host')
  const { items } = await community.members.list('1', { state: 'banned' })
  expect(items.map(({ ban_reason }) => ban_reason)).toEqual(['Spam', 'Spam', 'Spam'])
})

test('a list of addresses is taken, and those that no member has are named', async () => {
  const { get, send, tag, holders } = await panelWithMembers(three)
  const list = 'GRACE@example.org, ben@example.org\nwho@example.org'
  const choice = await send((await get(path)).text, { act: 'tag', list })
  const done = await send((await send(choice.text, { about: tag.id })).text)
  expect(done.text).toContain('2 done, 1 refused.')
  expect(done.text).toContain('who@example.org')
  expect(await holders()).toEqual(['Ben', 'Grace'])
})

test('a thousand long addresses go through every form', async () => {
  const { get, send, tag } = await panelWithMembers(three)
  const list = Array.from({ length: 1000 }, (_, n) => `${'long'.repeat(12)}.${n}@${'far'.repeat(12)}.example.org`).join('\r\n')
  const choice = await send((await get(path)).text, { act: 'tag', list })
  let page = await send((await send(choice.text, { about: tag.id })).text)
  for (let forms = 1; page.text.includes('data-go'); forms++) {
    expect([page.status, forms < 10]).toEqual([200, true])
    page = await send(page.text)
  }
  expect(page.text).toContain('0 done, 1,000 refused.')
})

test('a list that is refused is shown again as it was given, with what is wrong', async () => {
  const { get, post, send, ids, tag } = await panelWithMembers(three)
  const list = 'grace@example.org\n<ben>@example.org'
  const kept = 'grace@example.org\n&lt;ben&gt;@example.org</textarea>'
  const about = await send((await get(path)).text, { act: 'untag', list })
  const unknown = await send(about.text, { about: '99', list })
  expect(unknown.text).toContain('Tag not found')
  const mixed = await post(path, { act: 'untag', about: tag.id, list: `${list} ${ids[1]}` })
  expect(mixed.text).toContain('Give addresses or ids, and not both.')
  const many = await post(path, { act: 'untag', list: Array.from({ length: 1001 }, (_, n) => `${n}@example.org`).join(' ') })
  expect(many.text).toContain('At most 1,000 members at a time.')
  const ticked = await post(path, { act: 'untag', id: ids[0] ?? '', list: 'grace@example.org' })
  for (const { status, text } of [unknown, mixed, many, ticked]) {
    expect([status, text.includes('<option value="untag" selected>')]).toEqual([422, true])
    expect(text).toMatch(/class="note bad"/)
  }
  expect(unknown.text).toContain(kept)
  expect(mixed.text).toContain(kept.replace('</textarea>', ` ${ids[1]}</textarea>`))
  expect(ticked.text).toContain(`${ids[0]}\ngrace@example.org</textarea>`)
})

test('hundreds go a hundred at a time: each page shows how far it is, and goes on only when its form is sent', async () => {
  const names = Array.from({ length: 230 }, (_, n) => `M${n}`)
  const { post, send, community } = await panelWithMembers(names)
  const removed = async () => (await community.members.list('1', { state: 'removed', count: true })).total_count
  let page = await send((await post(path, { act: 'remove', all: '1', role: 'contributor' })).text)
  for (const done of [100, 200]) {
    expect(page.text).toContain(`value="${done}" max="230"`)
    expect(page.text).toContain('data-go')
    expect(await removed()).toBe(done)
    page = await send(page.text)
  }
  expect(page.text).toContain('230 done, 0 refused.')
  const lines = (await community.audit.list({ network: '1', action: 'members.bulk' })).items
  expect(new Set(lines.map(({ details }) => details['task'])).size).toBe(1)
})

test('no member, too many, and no such act are a 422', async () => {
  const { post, community } = await panelWithMembers(three)
  const many = Array.from({ length: 1001 }, (_, n) => String(n + 1)).join(' ')
  for (const form of [{ act: 'ban' }, { act: 'ban', list: many }, { act: 'erase', all: '1' }])
    expect((await post(path, form)).status).toBe(422)
  expect((await community.members.list('1', { state: 'banned' })).items).toEqual([])
})

test('who may not ban sees no ban, and cannot do it', async () => {
  const access = ['members.bulk', 'members.remove'] as const
  const { get, post, ids, community } = await panelWithMembers(three, { ...admin, access })
  expect((await get('1/members')).text).not.toContain('<option value="ban"')
  expect((await post(path, { act: 'ban', id: ids[0] ?? '', step: 'go' })).status).toBe(403)
  expect((await community.members.list('1', { state: 'banned' })).items).toEqual([])
})

test('names that the host masks are in no part of the pages', async () => {
  const { post, send } = await panelWithMembers(three, admin, { maskedFields: ['first_name', 'last_name'] })
  const confirmation = await post(path, { act: 'ban', all: '1', state: 'active' })
  const done = await send(confirmation.text)
  expect(done.text).toContain('This is the last host')
  for (const name of ['Grace', 'Ada']) expect(confirmation.text + done.text).not.toContain(name)
})
