/** Small pieces of pages. */
import { type ApiError, isApiError } from '../../errors.ts'
import { type Html, html } from './html.ts'

/** A moment: UTC in the page, and in the viewer's zone with the script. */
export const time = (at: string | null | undefined, none = '–'): Html =>
  at ? html`<time datetime="${at}">${at.slice(0, 10)} ${at.slice(11, 19)} UTC</time>` : html`<span class="soft">${none}</span>`

/** A text that a person wrote. Its direction, such as that of a name in Hebrew, ends with it. */
export const own = (text: string): Html => html`<bdi>${text}</bdi>`

export type Tone = 'good' | 'bad' | 'warn' | 'calm'

export const badge = (tone: Tone, text: string): Html => html`<span class="badge ${tone}">${text}</span>`

export const note = (tone: Tone, content: unknown): Html =>
  html`<div class="note ${tone}" role="${tone === 'bad' ? 'alert' : 'status'}">${content}</div>`

/** Where the keyboard starts on the page after a form: reading begins there, and the next Tab is behind it. */
const start = html`tabindex="-1" autofocus`

/** The result of a form, on the page after it. */
export const news = (tone: Tone, content: unknown): Html => html`<div class="note ${tone}" ${start}>${content}</div>`

/** A question or an example: a dialog with the script, and a page without it. Its heading is first, before any button. */
export const dialog = (title: string, content: unknown): Html =>
  html`<div data-confirm><h1 id="question" ${start}>${title}</h1>${content}</div>`

interface Table {
  /** The table for assistive technology. */
  readonly label: string
  readonly columns: readonly unknown[]
  readonly rows: readonly Html[]
  /** A wide table scrolls. It is a stop for arrow keys, unless each row has a link or a field. */
  readonly stop?: boolean
  /** `cards`: its rows are cards on a narrow screen, and of a `wide` one on a tablet, too. `narrow`: it always fits. */
  readonly kind?: 'cards' | 'cards wide' | 'cards even' | 'narrow'
}

export const table = ({ label, columns, rows, stop = false, kind = 'cards' }: Table): Html =>
  html`<div class="scroll" ${stop && html`role="region" aria-label="${label}" tabindex="0"`}><table class="${kind}" aria-label="${label}">
<thead><tr>${columns.map((column) => html`<th scope="col">${column}</th>`)}</tr></thead><tbody>${rows}</tbody></table></div>`

/** A field that looks through a list of the page; it needs the script. */
export const search = (label: string): Html => html`<div class="field" data-script hidden><label for="search">${label}</label>
<input id="search" type="search" data-filter autocomplete="off" aria-describedby="found"><p class="hint" id="found" role="status"></p></div>`

/** A list without entries: what it is for, and what to do next. */
export const empty = (title: string, text: string, next?: unknown): Html =>
  html`<div class="card empty"><h2>${title}</h2><p class="soft">${text}</p>${next}</div>`

/** A text of the declarations: what it has between backticks is code. */
export const marked = (text: string): readonly (Html | string)[] =>
  text.split('`').map((part, place) => (place % 2 === 1 ? html`<code>${part}</code>` : part))

/** A path, an address or the name of an event, which may break behind a slash, before an at sign, or before a word inside of it. */
export const breakable = (name: string): readonly Html[] =>
  name.split(/(?<=\/)|(?=@)|(?<=[a-z])(?=[A-Z])/).map((part, place) => html`${place > 0 && html`<wbr>`}${part}`)

export const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

export const number = (value: number): string => value.toLocaleString('en-GB')

/** The problems of a form, each by its field; `''` for those of no field. */
export type Problems = ReadonlyMap<string, string>

export const noProblems: Problems = new Map()

/**
 * The sentences of a refusal, each next to its field.
 * @param fields the fields of the form; a sentence about any other is about the whole
 * @throws the error, if it is no refusal of values
 */
export function problemsOf(error: unknown, fields: readonly string[]): Problems {
  if (!isRefusal(error)) throw error
  const problems = new Map<string, string>()
  let last = ''
  for (const whole of error.message.split('; ')) {
    // A form has its choices, so a long list of them says nothing more.
    const sentence = whole.replace(/\bof (?:[^\s,]+, ){9,}[^\s,]+/, 'of those that the form offers')
    const [, name = ''] = /^([a-zA-Z_]+)(?:\.\w+)* /.exec(sentence) ?? []
    const starts = fields.includes(name)
    if (starts) last = name
    const before = problems.get(last)
    if (starts && before !== undefined) continue
    problems.set(last, before === undefined ? sentence : `${before}; ${sentence}`)
  }
  return problems
}

const isRefusal = (error: unknown): error is ApiError => isApiError(error) && (error.status === 422 || error.status === 409)

interface Field {
  readonly name: string
  readonly label: unknown
  readonly hint?: unknown
  readonly problems?: Problems
}

/** A field with its label, its hint and its problem, which assistive technology reads together. */
export function field(given: Field, control: (attributes: Html) => Html): Html {
  const { name, label, hint } = given
  const problem = named(given)
  const described = [hint && `${name}-hint`, problem && `${name}-wrong`].filter(Boolean).join(' ')
  // Of several the browser takes the first.
  const wrongHere = problem && html`aria-invalid="true" autofocus`
  const attributes = html`id="${name}" name="${name}" ${described && html`aria-describedby="${described}"`} ${wrongHere}`
  return html`<div class="field"><label for="${name}">${label}</label>${hint && html`<p class="hint" id="${name}-hint">${hint}</p>`}
${control(attributes)}${wrong(name, problem)}</div>`
}

/** A field for a text in one line. @param more attributes of its element */
export const input = (given: Field, value: string, more = html`type="text"`): Html =>
  field(given, (attributes) => html`<input ${attributes} ${more} value="${value}" autocomplete="off">`)

/** A field to choose one value of some, each with its label. */
export const select = (given: Field, options: Iterable<readonly [value: string, label: string]>, chosen: string): Html => {
  const all = [...options].map(([value, label]) => option(value, label, chosen))
  return field(given, (attributes) => html`<select ${attributes}>${all}</select>`)
}

/** A field for a moment: in UTC, and in the viewer's zone with the script. */
export const moment = ({ label, ...given }: Field, value: string, more?: Html): Html =>
  input({ ...given, label: html`${label}<span data-utc> (UTC)</span>` }, value, html`type="datetime-local" data-utc ${more}`)

/** A group of controls with one label. */
export function group({ name, label, hint, problems = noProblems }: Field, content: unknown): Html {
  const problem = problems.get(name)
  const described = [hint && `${name}-hint`, problem && `${name}-wrong`].filter(Boolean).join(' ')
  return html`<fieldset ${described && html`aria-describedby="${described}"`} ${problem && start}><legend>${label}</legend>
${hint && html`<p class="hint" id="${name}-hint">${hint}</p>`}${wrong(name, problem)}${content}</fieldset>`
}

const wrong = (name: string, problem: string | undefined) =>
  problem && html`<p class="wrong" id="${name}-wrong">${capital(problem)}</p>`

/** A problem with the name that the form gives its field. */
function named({ name, label, problems = noProblems }: Field): string | undefined {
  const problem = problems.get(name)
  if (typeof label !== 'string' || !problem?.startsWith(`${name} `)) return problem
  return label.replace(/ \(.*/, '') + problem.slice(name.length)
}

/** The problem of the whole form, and the news that fields have some. */
export function summary(problems: Problems): Html | '' {
  if (problems.size === 0) return ''
  const whole = problems.get('')
  if (whole !== undefined) return html`<div class="note bad" role="alert" ${start}><p>${capital(whole)}</p></div>`
  return note('bad', html`<p>Nothing was saved: a value is refused. See below.</p>`)
}

/** A sentence that begins with the name of a field. */
const spoken = (text: string): string => capital(text).replace(/^\w+/, (name) => name.replaceAll('_', ' '))

/** The problems of a filter, each with the value that it is about. */
export const filterProblems = (problems: Problems, query: Readonly<Partial<Record<string, string>>>): Problems =>
  new Map([...problems].map(([name, text]) => [name, query[name] ? `“${query[name]}” isn’t possible: ${spoken(text)}` : text]))

/** The news that a filter finds nothing because of its values. */
export const nothingListed = (problems: Problems): Html | false =>
  problems.size > 0 && note('bad', html`<p>Nothing is listed. ${[...problems.values()].map(capital).join('. ')}.</p>`)

export const option = (value: string, label: string, chosen: string): Html =>
  html`<option value="${value}" ${value === chosen && html`selected`}>${label}</option>`

export const check = (type: 'checkbox' | 'radio', name: string, value: string, label: unknown, checked: boolean): Html =>
  html`<label class="check"><input type="${type}" name="${name}" value="${value}" ${checked && html`checked`}>${label}</label>`

/** A value that is shown once, with a button to copy it. Tab selects a field, so that the keyboard copies it without the script. */
export const secret = (id: string, label: string, value: string): Html =>
  html`<div class="secret"><input id="${id}" class="mono" aria-label="${label}" size="${value.length}" value="${value}" readonly autocomplete="off" spellcheck="false">
<button type="button" data-copy="${id}" data-script hidden>Copy</button><span role="status"></span></div>`

export interface Confirmation {
  readonly title: string
  readonly text: unknown
  readonly button: string
  readonly back: string
  readonly fields?: unknown
  readonly tone?: 'danger' | 'primary'
}

/** The question before a change that cannot be undone. */
export const confirmation = ({ title, text, button, back, fields, tone = 'danger' }: Confirmation): Html =>
  dialog(
    title,
    html`${text}
<form method="post">${fields}<p class="row"><button class="${tone}">${button}</button> <a class="button" href="${back}" data-close="Cancel">Cancel</a></p></form>`,
  )
