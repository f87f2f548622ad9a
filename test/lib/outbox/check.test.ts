import { crc32 } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { checkRecords } from '../../../lib/outbox/check.ts'
import { decodeLine } from '../../../lib/outbox/line.ts'
import type { OutboxRecord } from '../../../lib/outbox/record.ts'
import { recordsText } from '../../../lib/outbox/text.ts'
import { encodeLine } from '../../support/outbox-line.ts'

const event = (change: object = {}) => ({
  kind: 'event',
  network_id: '1',
  event_id: '6191cd4e-661a-4019-8612-b390a945a09f',
  event_type: 'PostCreatedHook',
  event_timestamp: '2026-11-20T10:00:00.000Z',
  audience: 'integration',
  body: '{"payload":{}}',
  ...change,
})
const endpoint = (change: object = {}) => ({
  kind: 'endpoint',
  action: 'upsert',
  id: '7',
  network_id: '1',
  url: 'https://example.org/hook',
  key: 'the-key',
  secrets: ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'],
  events: ['PostCreatedHook'],
  audience: 'integration',
  enabled: true,
  order: 'none',
  rate_per_second: 2.5,
  ...change,
})
const removal = (change: object = {}) => ({ kind: 'endpoint', action: 'remove', id: '7', network_id: '1', ...change })

const erasure = (change: object = {}) => ({ kind: 'erasure', network_id: '1', ids: ['1001'], ...change })

const nested = (depth: number): unknown => JSON.parse(`${'['.repeat(depth)}${']'.repeat(depth)}`)

const old = { value: 'k', until: '2026-11-21T10:00:00.000Z' }
const oldSecret = { ...old, value: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw' }
const bytes = (count: number): string => Buffer.alloc(count, 7).toString('base64')

describe('a record can be used', () => {
  test.each([
    ['an event', event()],
    ['an event with a field that this version does not know', event({ trace: nested(5000) })],
    ['an event of a type that this version does not know', event({ event_type: 'LinkCreatedHook' })],
    ['an event that names changed fields', event({ changed: ['role', 'first_name'] })],
    ['an event for the host', event({ audience: 'host' })],
    ['an endpoint', endpoint()],
    ['an endpoint of plain HTTP, which settings may allow', endpoint({ url: 'http://127.0.0.1:9/' })],
    ['an endpoint within a rotation', endpoint({ name: 'Ä', old_keys: [old], old_secrets: [oldSecret] })],
    ['an endpoint with secrets of 24 and 64 bytes', endpoint({ secrets: [`whsec_${bytes(24)}`, `whsec_${bytes(64)}`] })],
    ['an endpoint with private keys', endpoint({ secrets: [`whsk_${bytes(32)}`, `whsk_${bytes(64)}`] })],
    ['an endpoint with an encrypted secret', endpoint({ secrets: ['encrypted:1:0123456789abcdef:AAAA'] })],
    ['an endpoint for every event, without a limit', endpoint({ events: null, rate_per_second: null, secrets: [] })],
    ['a removal', removal()],
    ['an erasure', erasure()],
    ['an erasure of as many ids as there may be', erasure({ ids: Array.from({ length: 100 }, (_, n) => String(n)) })],
  ])('when it is %s', (_, record) => {
    expect(checkRecords([record])).toEqual({ records: [record], unusable: [] })
  })
})

describe('a record cannot be used', () => {
  test.each([
    ['null', null, /not a JSON object/],
    ['a list', [event()], /not a JSON object/],
    ['a text', 'event', /not a JSON object/],
    ['empty', {}, /its `kind` is unknown/],
    ['an erasure of nobody', erasure({ ids: [] }), /an erasure cannot be used: `ids` must be a list of 1 to 100/],
    ['an erasure of too many', erasure({ ids: Array.from({ length: 101 }, () => '1') }), /`ids` must be/],
    ['an erasure by numbers', erasure({ ids: [1] }), /`ids` must be/],
    ['an erasure by something else', erasure({ ids: 'x' }), /`ids` must be/],
    ['an erasure without a network', erasure({ network_id: undefined }), /`network_id` must be/],
    ['of a later kind', event({ kind: 'schedule' }), /its `kind` is unknown/],
    ['of a later action', endpoint({ action: 'pause' }), /its `action` is unknown/],
    ['of a later order', endpoint({ order: 'tree' }), /its `order` is unknown/],
    ['without a network', event({ network_id: undefined }), /`network_id`/],
    ['with a number for a network', event({ network_id: 1 }), /`network_id`/],
    ['with a network that is no number', removal({ network_id: 'one' }), /`network_id`/],
    ['without an event id', event({ event_id: undefined }), /`event_id`/],
    ['with a huge event id', event({ event_id: 'e'.repeat(201) }), /`event_id`/],
    ['with an event id that breaks a header', event({ event_id: 'a\r\nb' }), /`event_id`/],
    ['with an event type of the wrong form', event({ event_type: 'x'.repeat(101) }), /`event_type`/],
    ['with a time that is none', event({ event_timestamp: 'yesterday' }), /`event_timestamp`/],
    ['with a changed field that breaks a header', event({ changed: ['role\r\nx-more: yes'] }), /`changed` must be a list/],
    ['with a text for its changed fields', event({ changed: 'role' }), /`changed` must be a list/],
    ['with an audience that is none', event({ audience: 'everybody' }), /`audience`/],
    ['without a body', event({ body: null }), /`body`/],
    ['with an object for a body, without its length', event({ body: {} }), /`body_length`/],
    ['with a body that is no JSON', event({ body: '{"a":' }), /`body`/],
    ['with a list for a body', event({ body: '[]' }), /`body`/],
    ['with half a character in its body', event({ body: '{"a":"\ud800"}' }), /`body`/],
    ['with NUL in its body', event({ body: '{"a":"\0"}' }), /`body`/],
    ['an endpoint without an id', endpoint({ id: undefined }), /`id`/],
    ['an endpoint whose URL is none', endpoint({ url: 'no url' }), /`url`/],
    ['an endpoint of another protocol', endpoint({ url: 'ftp://example.org/' }), /`url`/],
    ['an endpoint with NUL in its URL', endpoint({ url: 'https://example.org/\0' }), /`url`/],
    ['an endpoint without a key', endpoint({ key: undefined }), /`key`/],
    ['an endpoint whose key breaks a header', endpoint({ key: 'a\nb' }), /`key`/],
    ['an endpoint with an old key without an end', endpoint({ old_keys: [{ value: 'k' }] }), /`old_keys`/],
    ['an endpoint with old secrets that are no list', endpoint({ old_secrets: old }), /`old_secrets`/],
    ['an endpoint with a name that is no text', endpoint({ name: 5 }), /`name`/],
    ['an endpoint without secrets', endpoint({ secrets: null }), /`secrets`/],
    ['an endpoint with a secret that is no text', endpoint({ secrets: [1] }), /`secrets`/],
    ['an endpoint with an empty secret', endpoint({ secrets: [''] }), /`secrets` must be a list of secrets, each `whsec_`/],
    ['an endpoint with a secret of no bytes', endpoint({ secrets: ['whsec_'] }), /`secrets`/],
    ['an endpoint with a secret of few bytes', endpoint({ secrets: [`whsec_${bytes(23)}`] }), /`secrets`/],
    ['an endpoint with a secret that is no base64', endpoint({ secrets: ['!!!not base64!!!'] }), /`secrets`/],
    ['an endpoint with a secret whose base64 is none', endpoint({ secrets: [`whsec_${'!'.repeat(40)}`] }), /`secrets`/],
    ['an endpoint with a secret without a prefix', endpoint({ secrets: [bytes(32)] }), /`secrets`/],
    ['an endpoint with a short private key', endpoint({ secrets: ['whsk_AAAA'] }), /`secrets`/],
    ['an endpoint with a private key of an odd length', endpoint({ secrets: [`whsk_${bytes(40)}`] }), /`secrets`/],
    ['an endpoint with a public key', endpoint({ secrets: [`whpk_${bytes(32)}`] }), /`secrets`/],
    ['an endpoint with a good secret and a bad one', endpoint({ secrets: [oldSecret.value, 'whsec_'] }), /`secrets`/],
    [
      'an endpoint with an old secret that cannot sign',
      endpoint({ old_secrets: [{ ...old, value: 'whsec_' }] }),
      /`old_secrets`/,
    ],
    [
      'an endpoint with an old key until a day that is none',
      endpoint({ old_keys: [{ ...old, until: '2026-13-41T10:00:00.000Z' }] }),
      /`old_keys`/,
    ],
    ['an endpoint with a key that no header holds', endpoint({ key: 'schlüssel' }), /`key`/],
    ['an endpoint with a rate that never comes round', endpoint({ rate_per_second: 5e-324 }), /`rate_per_second`/],
    ['an endpoint with an endless rate', endpoint({ rate_per_second: Number.POSITIVE_INFINITY }), /`rate_per_second`/],
    ['an endpoint with a text for its events', endpoint({ events: 'PostCreatedHook' }), /`events`/],
    ['an endpoint that is enabled by a text', endpoint({ enabled: 'yes' }), /`enabled`/],
    ['an endpoint with a rate of zero', endpoint({ rate_per_second: 0 }), /`rate_per_second`/],
    ['an endpoint with nesting for a rate', endpoint({ rate_per_second: nested(5000) }), /`rate_per_second`/],
    ['a removal of nothing', removal({ id: null }), /`id`/],
  ])('when it is %s', (_, record, reason) => {
    const { records, unusable } = checkRecords([event({ event_id: 'before' }), record, removal({ id: '9' })])
    expect(records).toMatchObject([{ event_id: 'before' }, { id: '9' }])
    expect(unusable).toMatchObject([{ reason: expect.stringMatching(reason) }])
  })
})

test.each([
  ['too long', '15'],
  ['too short', '13'],
  ['negative', '-14'],
  ['a text', '"14"'],
  ['endless', '1e999'],
  ['null', 'null'],
])('an event costs itself and those behind it when the length of its body is %s', (_, length) => {
  const text = recordsText([event(), event(), removal(), event()] as OutboxRecord[]).replace(
    /("body_length":14.*?)"body_length":14/,
    `$1"body_length":${length}`,
  )
  const { records, unusable } = checkRecords(JSON.parse(text), text)
  expect(records).toEqual([event(), removal()])
  expect(unusable).toHaveLength(2)
  expect(unusable[0]?.reason).toContain('`body_length`')
})

test('the message about an unusable record names the record, and no value of it', () => {
  const secret = 'whsec_secret'
  const { unusable } = checkRecords([event({ body: secret }), endpoint({ key: null, secrets: [secret] }), event({ event_id: 5 })])
  expect(unusable).toMatchObject([
    { network_id: '1', endpoint_id: null, event_id: '6191cd4e-661a-4019-8612-b390a945a09f' },
    { network_id: '1', endpoint_id: '7', event_id: null },
    { network_id: '1', endpoint_id: null, event_id: null },
  ])
  expect(JSON.stringify(unusable)).not.toContain(secret)
})

test('of very many unusable records in one commit the first ones are listed, and how many others there are', () => {
  const { records, unusable } = checkRecords([...Array.from({ length: 5000 }, () => null), event()])
  expect(records).toHaveLength(1)
  expect(unusable).toHaveLength(11)
  expect(unusable.at(-1)?.reason).toBe('4990 more records cannot be used')
})

test('a line with a right checksum gives the usable records, and the problems of the others', () => {
  const line = encodeLine([event({ body: null }), event()] as unknown as OutboxRecord[]).subarray(0, -1)
  expect(decodeLine(line, crc32)).toMatchObject({ records: [event()], unusable: [{ reason: expect.stringContaining('`body`') }] })
})
