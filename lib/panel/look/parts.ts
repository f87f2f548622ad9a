/** Small pieces of pages. */
import { type ApiError, isApiError } from '../../errors.ts'
import { type Html, html } from './html.ts'

/** A moment: UTC in the page, and in the viewer's zone with the script. */
export function time(at: string | null | undefined, none = '–', seconds = false): Html {
  if (!at) return html`<span class="soft">${none}</span>`
  const shown = `${at.slice(0, 10)} ${at.slice(11, seconds ? 19 : 16)} UTC`
  return html`<time datetime="${at}" ${seconds && html`data-seconds`}>${shown}</time>`
}

export type Tone = 'good' | 'bad' | 'warn' | 'calm'

export const badge = (tone: Tone, text: string): Html => html`<span class="badge ${tone}">${text}</span>`

export const note = (tone: Tone, content: unknown): Html =>
  html`<div class="note ${tone}" role="${tone === 'bad' ? 'alert' : 'status'}">${content}</div>`

/** A list without entries: what it is for, and what to do next. */
export const empty = (title: string, text: string, next?: unknown): Html =>
  html`<div class="card empty"><h2>${title}</h2><p class="soft">${text}</p>${next}</div>`

export const number = (value: number): string => value.toLocaleString('en-GB')

/** The problems of a form, each by its field; `''` for those of no field. */
export type Problems = ReadonlyMap<string, string>

export const noProblems: Problems = new Map()

/**
 * The sentences of a refusal, each beside its field.
 * @param fields the fields of the form; a sentence about any other is about the whole
 * @throws the error, if it is no refusal of values
 */
export function problemsOf(error: unknown, fields: readonly string[]): Problems {
  if (!isRefusal(error)) throw error
  const problems = new Map<string, string>()
  let last = ''
  for (const sentence of error.message.split('; ')) {
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
  readonly label: string
  readonly hint?: unknown
  readonly problems: Problems
}

/** A field with its label, its hint and its problem, which assistive technology reads together. */
export function field({ name, label, hint, problems }: Field, control: (attributes: Html) => Html): Html {
  const problem = problems.get(name)
  const described = [hint && `${name}-hint`, problem && `${name}-wrong`].filter(Boolean).join(' ')
  const attributes = html`id="${name}" name="${name}" ${described && html`aria-describedby="${described}"`} ${problem && html`aria-invalid="true"`}`
  return html`<div class="field"><label for="${name}">${label}</label>${hint && html`<p class="hint" id="${name}-hint">${hint}</p>`}
${control(attributes)}${wrong(name, problem)}</div>`
}

/** A group of controls with one label. */
export function group({ name, label, hint, problems }: Field, content: unknown): Html {
  const problem = problems.get(name)
  const described = [hint && `${name}-hint`, problem && `${name}-wrong`].filter(Boolean).join(' ')
  return html`<fieldset ${described && html`aria-describedby="${described}"`}><legend>${label}</legend>
${hint && html`<p class="hint" id="${name}-hint">${hint}</p>`}${wrong(name, problem)}${content}</fieldset>`
}

const wrong = (name: string, problem: string | undefined) =>
  problem && html`<p class="wrong" id="${name}-wrong">${problem.charAt(0).toUpperCase() + problem.slice(1)}</p>`

/** The problem of the whole form, and the news that fields have some. */
export function summary(problems: Problems): Html | '' {
  if (problems.size === 0) return ''
  return note('bad', html`<p>${problems.get('') ?? 'Nothing was saved: a value is refused. See below.'}</p>`)
}

export const option = (value: string, label: string, chosen: string): Html =>
  html`<option value="${value}" ${value === chosen && html`selected`}>${label}</option>`

export const check = (type: 'checkbox' | 'radio', name: string, value: string, label: unknown, checked: boolean): Html =>
  html`<label class="check"><input type="${type}" name="${name}" value="${value}" ${checked && html`checked`}>${label}</label>`

/** A value that is shown once, with a button to copy it. */
export const secret = (id: string, value: string): Html => html`<div class="secret"><code id="${id}">${value}</code>
<button type="button" data-copy="${id}" hidden>Copy</button></div>`

interface Confirmation {
  readonly title: string
  readonly text: unknown
  readonly button: string
  /** Back to the list. */
  readonly back: string
  readonly fields?: unknown
  readonly tone?: 'danger' | 'primary'
}

/** The question before a change that cannot be undone; with the script it is a dialog. */
export const confirmation = ({ title, text, button, back, fields, tone = 'danger' }: Confirmation): Html =>
  html`<div data-confirm><h1 id="question">${title}</h1>${text}
<form method="post">${fields}<p class="row"><button class="${tone}">${button}</button> <a class="button" href="${back}" data-close>Cancel</a></p></form></div>`
