/** Values of filters that cannot be right: they are named, in a filter that stays open. */
import { expect, test } from 'vitest'
import { relayOf } from './relay.ts'
import { admin, createTestPanel } from './support.ts'

test.each([
  ['deliveries?state=lost', 'state', '“lost” isn’t possible: State is one of Waiting, Delivered, Failed, Skipped'],
  ['deliveries?since=yesterday', 'since', '“yesterday” isn’t possible: Since takes a date and time'],
  ['deliveries?http_status=9', 'http_status', '“9” isn’t possible: HTTP status'],
  ['deliveries?outcome=odd', 'outcome', '“odd” isn’t possible: Outcome does not exist'],
  ['audit?action=key.stolen', 'action', '“key.stolen” isn’t possible: Action must be one of those that the form offers'],
  ['audit?from=yesterday', 'from', '“yesterday” isn’t possible: From must be a date and time in ISO 8601'],
  ['audit?subject=shoe:1', 'subject', '“shoe:1” isn’t possible: Subject.type must be one of network'],
  ['members?role=king', 'role', '“king” isn’t possible: Role must be one of host, moderator, contributor'],
  ['members?created_after=soon', 'created_after', '“soon” isn’t possible: Created after must be'],
  ['members?q=a&tag_id=%3Cb%3E', 'tag_id', '“&lt;b&gt;” isn’t possible: Tag id must be'],
])('the filter %s names its value, and stays open', async (path, field, sentence) => {
  const { get } = await createTestPanel(admin, { relay: relayOf() })
  const { status, text } = await get(`1/${path}`)
  expect(status).toBe(422)
  const [, beside = ''] = new RegExp(`id="${field}-wrong">([^]*?)</p>`).exec(text) ?? []
  expect(beside.startsWith(sentence)).toBe(true)
  expect(beside.length).toBeLessThan(200)
  expect(text).toMatch(/<details class="card" open>/)
  expect(text.replaceAll('<p>', '')).toContain(`role="alert">Nothing is listed. ${sentence}`)
})

test('words of a search that no name can have are named beside their field', async () => {
  const { status, text } = await (await createTestPanel()).get('1/members?q=a%00b')
  expect([status, text.includes('isn’t possible: Q must be well-formed Unicode without NUL</p>')]).toEqual([422, true])
})

test('a form whose problem is a long list of values points to its choices', async () => {
  const { post } = await createTestPanel()
  const { text } = await post('1/keys', { name: 'Sync', access: 'chosen' })
  expect(text).toContain('<p class="wrong" id="scopes-wrong">Scopes must be one or more of those that the form offers</p>')
})
