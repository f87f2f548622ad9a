import { expect, test } from 'vitest'
import { catalogue, type EventName, hostCatalogue, payloadSchema } from '../../../lib/events/catalogue.ts'
import { plainSentence, sentenceOf, shortened } from '../../../lib/events/sentences.ts'
import { defaultTextLimits } from '../../../lib/fields.ts'
import { exampleOf } from '../../../lib/openapi/example.ts'
import { schemaWriter } from '../../../lib/openapi/schema.ts'
import { noticeTypes } from '../../../lib/outbox/values.ts'

const writer = schemaWriter({ ids: 'string', limits: defaultTextLimits })
const names = [...Object.keys(catalogue), ...Object.keys(hostCatalogue)] as EventName[]
const exampleFor = (name: EventName) => exampleOf(writer.of(payloadSchema(name)), writer.components)
const said = (name: string, payload: unknown) => plainSentence(sentenceOf(name, payload))

test('every event has a sentence that its example fills without a gap', () => {
  expect(names).toHaveLength(52)
  for (const name of names) {
    const sentence = sentenceOf(`${name}Hook`, exampleFor(name))
    const text = plainSentence(sentence)
    expect(text, name).toMatch(/^[A-Z].{8,}[^\s:]$/)
    for (const piece of sentence) if (typeof piece !== 'string') expect(piece.text, name).not.toBe('')
    // What stands for something that is missing is not needed.
    expect(text, name).not.toMatch(/untitled|unknown|Someone|A member (?!reacted|took|wrote|reported)|a person|[{}|@]/)
    expect(text, name).not.toContain('example.org')
  }
})

test('a sentence names the member, what they got, and where', () => {
  const member = { id: '7', first_name: 'Grace', last_name: 'Oak', permalink: 'https://paint.example/members/7' }
  expect(said('MemberTagAddedHook', { member, tag: { title: 'Painters' } })).toBe('Grace Oak got the tag “Painters”')
  expect(said('MemberJoinedHook', { member, space_id: '1', network_id: '1' })).toBe('Grace Oak joined the network')
  expect(said('MemberJoinedHook', { member, space_id: '201', network_id: '1' })).toBe('Grace Oak joined a space')
  expect(said('MemberJoined', { member, place: 'Paint Pals' })).toBe('Grace Oak joined Paint Pals')
  expect(sentenceOf('MemberLeft', { member, place: 'Paint Pals' })[0]).toEqual({ text: 'Grace Oak', url: member.permalink })
  expect(said('EventCreated', { creator: { name: 'Ada Ash' }, title: 'Harvest', starts_at: '2026-12-01T10:00:00.000Z' })).toBe(
    'Ada Ash scheduled the event “Harvest”: 2026-12-01 10:00 UTC',
  )
})

test('a sentence about an endpoint says what the relay found', () => {
  for (const type of noticeTypes)
    expect(said(type, { endpoint_id: '7', message: 'sending is paused: 500' })).toMatch(/ndpoint 7.*: sending is paused: 500$/)
})

test('no field of a payload but names, titles and kinds is in a sentence', () => {
  for (const name of names) {
    const secretive = JSON.parse(JSON.stringify(exampleFor(name)), (key, value) =>
      /email|text|description|bio|location|reason|message|avatar|summary/.test(key) && typeof value === 'string'
        ? 'hidden!'
        : value,
    )
    expect(said(name, secretive), name).not.toContain('hidden!')
  }
})

test('nothing in a payload, and no unknown event, keeps a sentence from being made', () => {
  for (const payload of [
    undefined,
    null,
    1,
    'x',
    [],
    {},
    { member: null },
    { member: { first_name: 7, last_name: [] } },
    { title: {} },
  ])
    for (const name of [...names, 'toString', '__proto__', '']) expect(said(name, payload)).toMatch(/^\S.*/)
})

test('a name keeps its letters and loses what breaks a line or turns the text around', () => {
  const joined = (first_name: string) => said('MemberJoined', { member: { first_name }, place: 'Paint Pals' })
  expect(joined('שרה כהן')).toBe('שרה כהן joined Paint Pals')
  expect(joined('\u202eevil\u2066\n\r\u0000\u2028 Eve')).toBe('evil Eve joined Paint Pals')
  expect(joined(' \u200b\u202e\u0007 ')).toBe('A member joined Paint Pals')
  expect(joined('Ada\ud83d')).toBe('Ada\ufffd joined Paint Pals')
})

test('only addresses of the web are links', () => {
  const urls = ['javascript:alert(1)', 'data:text/html,x', '/members/7', 'https://ada:key@evil.example/', 7, null]
  for (const permalink of urls)
    expect(sentenceOf('MemberJoined', { member: { first_name: 'Eve', permalink } })[0]).toEqual({ text: 'Eve' })
})

test('a long text ends after a whole character with an ellipsis', () => {
  expect(shortened('Ada', 3)).toBe('Ada')
  expect(shortened('Adam', 3)).toBe('Ad…')
  const family = '👩‍👩‍👧‍👦'
  expect(shortened(family.repeat(4), family.length * 2 + 3)).toBe(`${family}${family}…`)
  expect(shortened(`e${'\u0301'.repeat(5000)}`, 200)).toBe('…')
  expect(said('MemberJoined', { member: { first_name: 'x'.repeat(5000) }, place: 'here' })).toBe(
    `${'x'.repeat(199)}… joined here`,
  )
})
