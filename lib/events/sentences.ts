/**
 * What happened, as one sentence for each event: chat channels get it, `folkmoot listen` prints it, and the timeline of a member shows it.
 * The core does not load this file. A sentence names no network, because no event does.
 *
 * `{…}` in a template is filled from the payload: with the text at a path, or at several with blanks between, which `@` and another path
 * link to an address. After `|` stands what is said if there is none. A record stands for its name. Nothing else of a record is shown:
 * no address, and no answer.
 */
import type { NoticeType } from '../outbox/values.ts'
import type { EventName } from './catalogue.ts'

/** A text that people or the host have given, with the address that it links to. */
export interface Given {
  readonly text: string
  readonly url?: string
}
/** Our own words are plain texts. */
export type Sentence = readonly (string | Given)[]

const member = '{member@member.permalink|A member}'
const buyer = '{first_name last_name@permalink|A member}'
const requester = '{member_first_name member_last_name|Someone}'
const purchaser = '{member_first_name member_last_name@member_permalink|A member}'
const by = '{author creator@creator.permalink|A member}'
const plan = '“{plan|unknown}”'
const field = '“{custom_field|untitled}”'
const title = '“{title@permalink|untitled}”'
const event = '“{event@event.permalink|untitled}”'
const subscription = `The subscription of ${buyer} to the plan ${plan}`
const poll = `${by} published the poll ${title}`
const notice = 'Endpoint {endpoint_id}: {message}'

const templates: Readonly<Record<EventName, string>> & Readonly<Record<string, string>> = {
  ArticleCreated: `${by} published the article ${title}`,
  ArticleUpdated: `The article ${title} changed`,
  CommentCreated: 'A member wrote a {@permalink|comment}',
  CustomFieldResponseCreated: `${member} answered ${field}`,
  CustomFieldResponseRemoved: `The answer of ${member} to ${field} was removed`,
  CustomFieldResponseUpdated: `The answer of ${member} to ${field} changed`,
  EventCanceled: 'The event “{title|untitled}” was canceled',
  EventCreated: `${by} scheduled the event ${title}: {starts_at}`,
  EventInstanceCanceled: `An occurrence of the event ${event} was canceled: {event_instance.starts_at}`,
  EventUpdated: `The event ${title} changed`,
  GiftLeaderboardUpdated: 'The leaderboard of {type} gifts was updated',
  HotColdPollCreated: poll,
  HotColdPollUpdated: `The poll ${title} changed`,
  InviteRequested: `${requester} requested an invitation`,
  MemberAmbassadorLeveledUp: `${member} reached the level {ambassador_level_name}`,
  MemberBadgeAdded: `${member} got the badge “{badge}”`,
  MemberBadgeRemoved: `${member} lost the badge “{badge}”`,
  MemberCourseProgressCompleted: `${member} completed the course “{course}”`,
  MemberCourseProgressStarted: `${member} began the course “{course}”`,
  MemberCourseProgressUpdated: `${member} got on with the course “{course}”`,
  MemberJoinRequested: '{first_name last_name|Someone} requested to join {space|the network}',
  MemberJoined: `${member} joined {place}`,
  MemberLeft: `${member} left {place}`,
  MemberLessonCompleted: `${member} completed the lesson “{lesson@lesson.permalink|untitled}” of the course “{course}”`,
  MemberPlanChanged: `${buyer} moved to the plan ${plan}`,
  MemberPurchaseRequested: `${requester} requested to buy a plan`,
  MemberPurchased: `${purchaser} got the plan ${plan}`,
  MemberRemovedFromPlan: `${buyer} lost the plan ${plan}`,
  MemberSubscriptionCanceled: `${subscription} was canceled`,
  MemberSubscriptionRenewed: `${subscription} was renewed`,
  MemberTagAdded: `${member} got the tag “{tag}”`,
  MemberTagRemoved: `${member} lost the tag “{tag}”`,
  MemberUpdated: `The profile or role of ${member} changed`,
  MultipleChoicePollCreated: poll,
  MultipleChoicePollUpdated: `The poll ${title} changed`,
  PercentagePollCreated: poll,
  PercentagePollUpdated: `The poll ${title} changed`,
  PostCreated: `${by} published the {post_type|post} ${title}`,
  PostUpdated: `The {post_type|post} ${title} changed`,
  QuestionCreated: `${by} published the question ${title}`,
  QuestionUpdated: `The question ${title} changed`,
  ReactionCreated: 'A member reacted with {emoji}',
  ReactionDeleted: 'A member took back the reaction {emoji}',
  ReportedContentCreated: 'A member reported content: {reported_content.blacklist_type}',
  RsvpCreated: `${member} answered the event ${event}: {status}`,
  RsvpDeleted: `The answer of ${member} to the event ${event} was deleted`,
  RsvpUpdated: `The answer of ${member} to the event ${event} changed: {status}`,
  WelcomeEmailRequested: `A welcome mail to ${member} is due`,
  PasswordResetEmailRequested: `A mail to ${member} about a new password is due`,
  InviteEmailRequested: 'An invite to {recipient_first_name recipient_last_name|a person} is due',
  PostNotificationRequested: 'Members are to be notified of “{title|untitled}”',
  CustomFieldNotificationRequested: `Members are to be notified of the field ${field}`,
  ...({
    EndpointFailingHook: notice,
    EndpointCircuitOpenedHook: notice,
    EndpointRecoveredHook: notice,
    EndpointDayHook: notice,
    EndpointDisablingHook: notice,
    EndpointDisabledHook: notice,
    DeliveryExhaustedHook: 'A delivery to endpoint {endpoint_id} failed for good: {message}',
  } satisfies Record<NoticeType, string>),
  TestHook: '{message}',
}

type Fields = Readonly<Record<string, unknown>>
const isObject = (value: unknown): value is Fields => typeof value === 'object' && value !== null

const at = (value: unknown, path: string): unknown =>
  path
    .split('.')
    .reduce<unknown>((inner, name) => (isObject(inner) && Object.hasOwn(inner, name) ? inner[name] : undefined), value)

/** Of a text only what is seen, on one line: controls, and marks that turn around what follows, are left out. */
const plain = (text: string): string =>
  text
    .toWellFormed()
    .replace(/[\p{Cc}\s\u200b\u202a-\u202e\u2060\u2066-\u2069\ufeff]+/gu, ' ')
    .trim()

function textOf(value: unknown): string {
  if (isObject(value))
    return textOf(value['name'] ?? value['title'] ?? `${textOf(value['first_name'])} ${textOf(value['last_name'])}`)
  if (typeof value === 'number') return String(value)
  if (typeof value !== 'string') return ''
  return plain(value.replace(/^(\d{4}-\d\d-\d\d)T(\d\d:\d\d):[\d.]+Z$/, '$1 $2 UTC'))
}

/** An address that a browser may open; `undefined` for anything else. */
function addressOf(value: unknown): string | undefined {
  const url = typeof value === 'string' ? URL.parse(value) : null
  return url && /^https?:$/.test(url.protocol) && url.username + url.password === '' ? url.href : undefined
}

/** The place that a membership is of: its name, if someone who knows it has put it there. */
const withPlace = (payload: Fields): Fields => ({
  place: payload['space_id'] === payload['network_id'] ? 'the network' : 'a space',
  ...payload,
})

/**
 * The sentence of an event. It never throws: what a payload lacks is left out.
 * @param event_type with or without its suffix `Hook`
 * @param payload as it goes over the wire
 */
export function sentenceOf(event_type: string, payload: unknown): Sentence {
  const name = [event_type, event_type.replace(/Hook$/, '')].find((each) => Object.hasOwn(templates, each))
  if (name === undefined) return ['An event happened: ', { text: plain(event_type) }]
  const fields = isObject(payload) ? withPlace(payload) : {}
  const parts = (templates[name] ?? '').split(/\{(.*?)\}/)
  return parts.map((part, place) => (place % 2 === 0 ? part : given(part, fields))).filter((part) => part !== '')
}

function given(hole: string, fields: Fields): Given {
  const [, paths = '', link = '', instead = ''] = /^([^@|]*)(?:@([^|]*))?(?:\|(.*))?$/.exec(hole) ?? []
  const texts = paths.split(' ').map((path) => textOf(at(fields, path)))
  const text = texts.filter((each) => each !== '').join(' ')
  const url = addressOf(at(fields, link))
  return { text: text === '' ? instead : text, ...(url === undefined ? {} : { url }) }
}

const characters = new Intl.Segmenter()

/** A text cut after a whole character, as people see one, with an ellipsis. */
export function shortened(text: string, most: number): string {
  if (text.length <= most) return text
  let end = 0
  for (const { index, segment } of characters.segment(text.slice(0, 2 * most))) {
    if (index + segment.length >= most) break
    end = index + segment.length
  }
  return `${text.slice(0, end).trimEnd()}…`
}

/** The most characters of one text in a sentence. */
export const mostOfText = 200

/** A sentence without links, for a terminal and for lines of text. */
export const plainSentence = (sentence: Sentence): string =>
  sentence.map((each) => (typeof each === 'string' ? each : shortened(each.text, mostOfText))).join('')
