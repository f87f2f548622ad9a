/** Messages for chat channels, as real receivers on loopback get them, checked against what each service documents. */
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { catalogue, type EventName, hostCatalogue, payloadSchema } from '../../../../lib/events/catalogue.ts'
import { defaultTextLimits } from '../../../../lib/fields.ts'
import { exampleOf } from '../../../../lib/openapi/example.ts'
import { schemaWriter } from '../../../../lib/openapi/schema.ts'
import { type ChatFormat, chatRates } from '../../../../lib/outbox/chat.ts'
import { bench, endpoint, event, receiver, status, until } from '../support.ts'
import { senderWith } from './support.ts'

type Json = Readonly<Record<string, unknown>>

/** The text of a message, once its form is the one that the service documents. */
const readers: Readonly<Record<ChatFormat, (body: string) => string>> = {
  slack(body) {
    const { text } = JSON.parse(body) as { readonly text: string }
    expect(JSON.parse(body)).toEqual({ text, blocks: [{ type: 'section', text: { type: 'mrkdwn', text, verbatim: true } }] })
    expect(text.length).toBeLessThanOrEqual(3000)
    // Only our own links begin with an angle bracket; `!`, `@` and `#` after it would mention somebody.
    for (const [, after = ''] of text.matchAll(/<(.{0,8})/g)) expect(after).toBe('https://')
    const own = text.replace(/<https:[^<>|]*\|/g, '')
    // An emoji by its name, or a quote.
    expect(own).not.toMatch(/:[^\s:]+:|^(?:&gt;|>)/)
    expect(own.replace(/&(?:amp|lt|gt);/g, '')).not.toMatch(/[&<*_~`]/)
    return text
      .replace(/<[^|>]*\|([^>]*)>/g, '$1')
      .replaceAll('&lt;', '<')
      .replaceAll('&gt;', '>')
      .replaceAll('&amp;', '&')
  },
  teams(body) {
    const message = JSON.parse(body) as {
      readonly attachments: readonly [{ readonly content: { readonly body: readonly [Json] } }]
    }
    const text = String(message.attachments[0].content.body[0]['text'])
    expect(message).toEqual({
      type: 'message',
      attachments: [
        {
          contentType: 'application/vnd.microsoft.card.adaptive',
          contentUrl: null,
          content: {
            $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
            type: 'AdaptiveCard',
            version: '1.4',
            body: [{ type: 'TextBlock', text, wrap: true }],
          },
        },
      ],
    })
    expect(Buffer.byteLength(body)).toBeLessThanOrEqual(28_000)
    return unmarked(text, /\]\((https:\/\/[^()\s]*)\)/g)
  },
  discord(body) {
    const { content } = JSON.parse(body) as { readonly content: string }
    expect(JSON.parse(body)).toEqual({ content, allowed_mentions: { parse: [] }, flags: 4 })
    expect(content.length).toBeLessThanOrEqual(2000)
    return unmarked(content, /\]\(<(https:\/\/[^<>()\s]*)>\)/g)
  },
}

/** Markdown without its links and escapes. Every mark that is left would format, mention or link something. */
function unmarked(markdown: string, links: RegExp): string {
  const own = markdown.replace(/(?<!\\)\[((?:\\.|[^\\\]])*)(?=\])/g, '$1').replace(links, '')
  expect(own.replace(/\\./g, '')).not.toMatch(/[\\`*_~[\]<>|#@{}]|https?:\/\//)
  return own.replace(/\\(.)/g, '$1')
}

const formats = Object.keys(readers) as ChatFormat[]
const writer = schemaWriter({ ids: 'string', limits: defaultTextLimits })
const permalink = 'https://paint.example/members/7'
const joined = (first_name: string, change: Json = {}) => ({
  event_id: 'a',
  event_timestamp: '2026-11-20T10:00:00.000Z',
  event_type: 'MemberJoinedHook',
  payload: {
    member: { id: '7', first_name, last_name: '', email: 'grace@example.org', permalink, ...change },
    space_id: '1',
    network_id: '1',
  },
})

/** The message that a receiver gets for an event. */
async function messageOf(format: ChatFormat, body: object) {
  const hook = await receiver()
  const outcome = await senderWith()(hook.url, { format, key: '', body: JSON.stringify(body) })
  expect(outcome.result).toBe('delivered')
  return { ...hook.received[0], body: hook.received[0]?.body ?? '' }
}

describe.each(formats)('%s', (format) => {
  const read = readers[format]
  const textOf = async (body: object) => read((await messageOf(format, body)).body)

  test('a message is the sentence of its event, and its names link to where the network shows them', async () => {
    const { body, headers = {} } = await messageOf(format, joined('Grace'))
    expect(read(body)).toBe('Grace joined the network')
    expect(body).toContain(permalink)
    expect(body).not.toContain('grace@')
    expect(Object.keys(headers).filter((name) => /authorization|webhook|folkmoot/.test(name))).toEqual([])
    expect(headers['content-type']).toBe('application/json')
  })

  test.each([
    ['<!channel> <!here|here> <@U123> <#C1>', undefined],
    ['@everyone @here <@&1> <t:0:R>', undefined],
    ['[x](http://evil.example) <http://evil.example|x>', undefined],
    ['http://evil.example', undefined],
    ['*bold* **b** __u__ ~~s~~ `c` ```d``` ||e||', undefined],
    [':tada: :+1::skin-tone-2: at 10:30:00', undefined],
    ['> quote', undefined],
    ['>>> quotes', undefined],
    ['# head', undefined],
    ['- item', undefined],
    ['1. item', undefined],
    ['\\[x\\](http://evil.example)', undefined],
    ['](https://evil.example) [', undefined],
    ['Tom & Jerry &lt;b&gt;', undefined],
    ['{{DATE(2026-01-01T00:00:00Z)}}', undefined],
    ['שרה', undefined],
    ['\u202eevil\u202c\n\n\n# Eve', 'evil # Eve'],
    ['\u2066\u200b\u0000', 'A member'],
  ])('the name %j is shown as it is, and does nothing', async (name, shown = name) => {
    const text = await textOf(joined(name))
    const likenesses: Readonly<Record<string, string>> = { '∗': '*', ˍ: '_', '∼': '~', ˋ: '`', '꞉': ':', '›': '>' }
    expect(text.replace(/[∗ˍ∼ˋ꞉›]/g, (each) => likenesses[each] ?? '')).toBe(`${shown} joined the network`)
  })

  test('a name of 5,000 characters is cut after a whole character', async () => {
    const family = '👩‍👩‍👧‍👦'
    const text = await textOf(joined(family.repeat(460)))
    expect(text).toMatch(/^(?:👩‍👩‍👧‍👦)+… joined the network$/u)
    expect(await textOf(joined('&<>*_`'.repeat(900), { permalink: `https://paint.example/${'&()|'.repeat(500)}` }))).toMatch(
      /… joined the network$/,
    )
  })

  test.each([
    'javascript:alert(1)',
    'https://e.example/|x>',
    'https://e.example/)[x](https://evil.example',
    'https://e.example/<!here>',
  ])('a link to %s links to no more than an address', async (link) => {
    expect(await textOf(joined('Grace', { permalink: link }))).toBe('Grace joined the network')
  })

  test('every event, its example, and a damaged one become a message', async () => {
    const names = [...Object.keys(catalogue), ...Object.keys(hostCatalogue)] as EventName[]
    const hook = await receiver()
    const send = senderWith()
    for (const name of names)
      for (const payload of [exampleOf(writer.of(payloadSchema(name)), writer.components), null, 7])
        await send(hook.url, { format, key: '', body: JSON.stringify({ event_type: `${name}Hook`, payload }) })
    expect(hook.received).toHaveLength(names.length * 3)
    for (const { body } of hook.received) expect(read(body)).toMatch(/^\S/)
  })

  test('a 429 says how long to wait, in a header or in its body', async () => {
    const hook = await receiver(
      (_, response) => void response.writeHead(429).end('{"message":"slow","retry_after":64.57,"global":false}'),
    )
    const send = senderWith()
    const attempt = () => send(hook.url, { format, key: '', body: JSON.stringify(joined('Grace')) })
    expect(await attempt()).toMatchObject({ result: 'status', status: 429, retryAfter: 64.57 })
    hook.respond = status(429, { 'retry-after': '30' })
    expect(await attempt()).toMatchObject({ status: 429, retryAfter: 30 })
  })
})

test('the standard format has the stored bytes, and no delay from a body', async () => {
  const hook = await receiver((_, response) => void response.writeHead(429).end('{"retry_after":64.57}'))
  const body = JSON.stringify(joined('Grace'))
  for (const format of [null, 'standard'] as const)
    expect((await senderWith()(hook.url, { format, body })).retryAfter).toBeUndefined()
  expect(hook.received.map((each) => each.body)).toEqual([body, body])
})

test('the address of a channel is in no log and no stored response', async () => {
  const token = 'XQ7vPz31mNb8Kd02LtWs94Ra'
  const hook = await receiver(
    (request, response) => void response.writeHead(404).end(`no_service ${request.path} ${token} webhooks`),
  )
  const all = await bench({ retrySchedule: [0] })
  await all.append(
    endpoint(`${hook.url}/T01234567/${token}`, { format: 'slack', key: '', requires: ['format', 'no-key'] }),
    event('one', { body: JSON.stringify(joined('Grace')) }),
  )
  await until(() => all.attempts.length === 1, 'an attempt')
  expect(hook.received[0]?.path).toContain(token)
  expect(JSON.stringify([all.attempts, all.notices])).not.toContain(token)
  const url = `${hook.url}/T01234567/${token}`
  const outcome = await senderWith()(url, { format: 'slack', key: '', body: JSON.stringify(joined('Grace')) })
  expect(outcome.responseBody).toMatch(/^no_service \[hidden\] \[hidden\] webhooks$/)
})

test('the page about channels names the rates', () => {
  const page = readFileSync(new URL('../../../../docs/webhooks/channels.md', import.meta.url), 'utf8')
  for (const [format, rate] of Object.entries(chatRates)) expect(page).toMatch(new RegExp(`\`${format}\`.*\\b${rate}\\b`))
})
