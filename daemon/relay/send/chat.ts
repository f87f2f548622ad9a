/**
 * Events as messages of Slack, Teams and Discord: the sentence of the event, in the form of an incoming webhook. The names and titles
 * in it come from strangers, so none may mention a channel, format the rest, or link to anything but its own address.
 */
import { type Given, mostOfText, type Sentence, sentenceOf, shortened } from '../../../lib/events/sentences.ts'
import type { ChatFormat } from '../../../lib/outbox/chat.ts'

interface Face {
  /** Characters of the message. */
  readonly most: number
  readonly escaped: (text: string) => string
  readonly link: (text: string, url: string) => string
  readonly body: (text: string) => object
}

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }
/** Slack has no escape for what formats a text, names an emoji or begins a quote, only for what begins a link or a mention. */
const likenesses: Readonly<Record<string, string>> = { '*': '∗', _: 'ˍ', '~': '∼', '`': 'ˋ', ':': '꞉', '>': '›' }
const inSlack = (text: string): string =>
  text.replace(/[*_~`]|:(?=\S*:)|^>/g, (each) => likenesses[each] ?? '').replace(/[&<>]/g, (each) => entities[each] ?? '')

/** Every mark of Markdown, of a mention and of an address, and what begins a list. */
const inMarkdown = (text: string): string => text.replace(/[\\`*_~[\]<>|#:@{}!]/g, '\\$&').replace(/^(\d*)(?=[-+.)])/, '$1\\')

/** An address that ends neither a link nor the text around it. */
const encoded = (url: string): string => url.replace(/[<>|()[\]\\`*_~]/g, (each) => `%${each.charCodeAt(0).toString(16)}`)
const markdownLink = (text: string, url: string): string => `[${text}](${encoded(url)})`

const faces: Readonly<Record<ChatFormat, Face>> = {
  slack: {
    most: 3000,
    escaped: inSlack,
    link: (text, url) => `<${encoded(url).replaceAll('&', '&amp;')}|${text}>`,
    // `verbatim`: a name that looks like an address becomes no link.
    body: (text) => ({ text, blocks: [{ type: 'section', text: { type: 'mrkdwn', text, verbatim: true } }] }),
  },
  teams: {
    most: 5000,
    escaped: inMarkdown,
    link: markdownLink,
    body: (text) => ({
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
    }),
  },
  discord: {
    most: 2000,
    escaped: inMarkdown,
    link: (text, url) => `[${text}](<${encoded(url)}>)`,
    // 4: no previews of links.
    body: (content) => ({ content, allowed_mentions: { parse: [] }, flags: 4 }),
  },
}

const written = (sentence: Sentence, { escaped, link }: Face, most: number, links: boolean): string => {
  const given = ({ text, url }: Given): string => {
    const short = escaped(shortened(text, most))
    return url === undefined || !links ? short : link(short, url)
  }
  return sentence.map((each) => (typeof each === 'string' ? each : given(each))).join('')
}

/** A sentence that fits: with its links if they do, and each text in full if it does. */
function fitting(sentence: Sentence, face: Face): string {
  const whole = written(sentence, face, mostOfText, true)
  return whole.length <= face.most ? whole : written(sentence, face, mostOfText / 4, false)
}

/** @param body of the event, as it is stored */
export function chatBody(format: ChatFormat, body: Uint8Array): Buffer {
  const { event_type, payload } = JSON.parse(Buffer.from(body).toString('utf8')) as Readonly<Record<string, unknown>>
  const face = faces[format]
  return Buffer.from(JSON.stringify(face.body(fitting(sentenceOf(String(event_type), payload), face))))
}

/**
 * The delay in the body of a 429, in seconds, as Discord gives it; `undefined` if there is none.
 * @param response the beginning of the body
 */
export function delayIn(response: string | undefined): number | undefined {
  const [, seconds] = /"retry_after"\s*:\s*(\d+(?:\.\d+)?)/.exec(response ?? '') ?? []
  return seconds === undefined ? undefined : Number(seconds)
}
