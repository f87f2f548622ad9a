/**
 * Members from a file, in three forms: choose the file, say what its columns are, and look at the preview. Nothing is kept between
 * them: each form carries the text of the file to the next.
 */

import { readTable } from '../../../csv/table.ts'
import { ApiError } from '../../../errors.ts'
import { type ImportRefusal, type ImportReport, type ImportRow, importColumns } from '../../../host/members/import.ts'
import { titleKey } from '../../../rules/titles.ts'
import type { Id } from '../../../storage/table.ts'
import { previewOf } from '../../layout/confirm.ts'
import { pageOf } from '../../layout/layout.ts'
import { personal } from '../../layout/person.ts'
import { may } from '../../request/access.ts'
import type { ActingCalls } from '../../request/acting-user.ts'
import type { PanelResponse } from '../../request/respond.ts'
import type { Route, View } from '../../route.ts'
import { type Html, html } from '../../ui/html.ts'
import {
  capital,
  check,
  field,
  input,
  news,
  noProblems,
  number,
  option,
  own,
  type Problems,
  problemsOf,
  select,
  summary,
  table,
} from '../../ui/parts.ts'

const path = 'members/import'
const title = 'Import members'
const maxFileBytes = 5_000_000
/** As many as go within the time of a request. */
const maxRows = 5000
const maxColumns = 500
const previewedRows = 1000
const shownRefusals = 100
/** A page with more options than this has one list of them for all columns. */
const mostOptions = 20_000
const larger = 'Import a larger file with the command folkmoot members import.'

/** The file, read. */
interface Upload {
  readonly text: string
  readonly format: 'csv' | 'ndjson'
  readonly rows: readonly ImportRow[]
  readonly columns: readonly string[]
}

/** What the visitor has chosen: a field of members for each column, `''` to leave it out. */
interface Choice {
  readonly targets: readonly string[]
  readonly name: string
  readonly update: boolean
}

/** The link to the import, for those who may. */
export const importLink = (view: View): Html | false =>
  may(view.visitor, 'members.import') && html`<a class="button" href="${view.link(path)}">Import</a>`

/** @throws ApiError 422 for a file that is no table, or has more than fits */
async function uploadIn({ form }: View): Promise<Upload> {
  const refuse = (error: string): never => {
    throw new ApiError(422, { error })
  }
  const file = form.file('file')
  if (!file && !form.has('text')) return refuse('file is missing: choose one')
  if (file && file.size > maxFileBytes) refuse(`file has more than ${maxFileBytes / 1e6} MB. ${larger}`)
  const isNdjson = file ? /\.(?:ndjson|jsonl)$/i.test(file.name) : form.get('format') === 'ndjson'
  const format = isNdjson ? 'ndjson' : 'csv'
  const rows: ImportRow[] = []
  const columns = new Set<string>()
  for await (const row of readTable([file ? new Uint8Array(await file.arrayBuffer()) : form.get('text')], format)) {
    if (rows.length === maxRows) refuse(`file has more than ${number(maxRows)} rows. ${larger}`)
    rows.push(row)
    for (const column of Object.keys(row)) columns.add(column)
    if (columns.size > maxColumns) refuse(`file has more than ${maxColumns} columns`)
  }
  if (rows.length === 0) refuse('file has no row')
  return { text: file ? await file.text() : form.get('text'), format, rows, columns: [...columns] }
}

/** The fields of members that a column can be, with their labels. */
async function targetsOf({ community, id }: View): Promise<ReadonlyMap<string, string>> {
  const targets = new Map(importColumns.map((name) => [name, capital(name.replaceAll('_', ' '))]))
  for (let page = 1, isMore = true; isMore; page++) {
    const found = await community.call('custom_fields.list', { network: id, query: { page, per_page: 100 } })
    for (const { title, response_type } of found.items)
      if (response_type !== 'tag' && response_type !== 'badge' && !targets.has(title.trim().toLowerCase()))
        targets.set(title, title)
    isMore = found.items.length === 100
  }
  return targets
}

const otherNames = Object.entries({
  ...{ mail: 'email', e_mail: 'email', email_address: 'email', full_name: 'name', tag: 'tags', timezone: 'time_zone' },
  ...{ firstname: 'first_name', given_name: 'first_name', lastname: 'last_name', surname: 'last_name', family_name: 'last_name' },
})

/** What each column is by its name, each field once. */
function guessed(columns: readonly string[], targets: ReadonlyMap<string, string>): readonly string[] {
  const byKey = new Map([...otherNames, ...[...targets.keys()].map((name) => [name.trim().toLowerCase(), name] as const)])
  const taken = new Set([''])
  return columns.map((column) => {
    const key = column.trim().toLowerCase()
    const name = byKey.get(key) ?? byKey.get(key.replace(/[\s-]+/g, '_')) ?? ''
    if (taken.has(name)) return ''
    taken.add(name)
    return name
  })
}

const choiceIn = ({ form }: View, { columns }: Upload, targets: ReadonlyMap<string, string>): Choice => ({
  targets: form.file('file') ? guessed(columns, targets) : columns.map((_, index) => form.get(`column_${index}`).trim()),
  name: form.get('name').trim(),
  update: form.has('update'),
})

function problemsIn({ targets }: Choice, known: ReadonlyMap<string, string>): Problems {
  const problems = new Map<string, string>()
  for (const [index, target] of targets.entries())
    if (target !== '' && !known.has(target)) problems.set(`column_${index}`, `there is no field “${target}”`)
    else if (target !== '' && targets.indexOf(target) < index)
      problems.set(`column_${index}`, 'another column is this field already')
  if (!targets.includes('email')) problems.set('', 'choose the column that has the e-mail addresses')
  return problems
}

const hidden = (name: string, value: string): Html => html`<input type="hidden" name="${name}" value="${value}">`
const formOf = (view: View, content: Html): Html =>
  html`<form method="post" enctype="multipart/form-data" action="${view.link(path)}">${content}</form>`

function startPage(view: View, problems: Problems): Promise<PanelResponse> {
  const hint = html`CSV or NDJSON in UTF-8, with a row for each person: at most ${number(maxRows)} rows and ${maxFileBytes / 1e6} MB. ${larger}`
  const file = field(
    { name: 'file', label: 'File', hint, problems },
    (attributes) => html`<input ${attributes} type="file" accept=".csv,.ndjson,.jsonl,.txt" required>`,
  )
  const content = html`<h1>${title}</h1>${summary(problems)}
<p class="soft">People who are members already are left alone, so you can import the same file again. Nobody gets a welcome mail.</p>
${formOf(view, html`${file}<p class="row"><button class="primary">Next: the columns</button> <a class="button" href="${view.link('members')}">Cancel</a></p>`)}`
  return pageOf(view, title, content, problems.size > 0 ? 422 : 200)
}

function columnsPage(view: View, upload: Upload, targets: ReadonlyMap<string, string>, choice: Choice, problems: Problems) {
  const { text, format, rows, columns } = upload
  const isLong = columns.length * targets.size > mostOptions
  const selects = columns.map((column, index) => {
    const example = rows.map((row) => String(row[column] ?? '').trim()).find((value) => value !== '') ?? ''
    const hint = example === '' ? 'Empty' : html`Such as ${own(example.length > 60 ? `${example.slice(0, 60)}…` : example)}`
    const given = { name: `column_${index}`, label: own(column), hint, problems }
    const chosen = choice.targets[index] ?? ''
    return isLong
      ? input(given, chosen, html`type="text" list="fields" placeholder="Leave out"`)
      : select(given, [['', 'Leave out'], ...targets], chosen)
  })
  const hint = 'New members get it as a tag. By default it is the time.'
  const name = { name: 'name', label: 'Name of the import', hint, problems }
  const named = input(name, choice.name, html`type="text" dir="auto" maxlength="200"`)
  const content = html`<h1>What are the columns?</h1>${summary(problems)}
${formOf(
  view,
  html`${hidden('text', text)}${hidden('format', format)}<div class="filter">${selects}</div>${isLong && html`<datalist id="fields">${[...targets].map(([name, label]) => option(name, label, ''))}</datalist>`}
<h2>The import</h2>${named}<div class="field">${check('checkbox', 'update', '1', 'Change members who are there to what the file says', choice.update)}</div>
<p class="row"><button class="primary" name="step" value="preview">Preview</button> <a class="button" href="${view.link(path)}">Another file</a></p>`,
)}`
  return pageOf(view, title, content, problems.size > 0 ? 422 : 200)
}

interface Outcome {
  report?: ImportReport
  refusals: readonly ImportRefusal[]
}

/** The import as work, for its preview and for itself. */
function importing(view: View, { columns, rows }: Upload, { targets, name, update }: Choice, most: number) {
  const outcome: Outcome = { refusals: [] }
  const renamed = rows
    .slice(0, most)
    .map((row) => Object.fromEntries(columns.flatMap((column, index) => (targets[index] ? [[targets[index], row[column]]] : []))))
  const work = async ({ members }: ActingCalls): Promise<ImportReport> => {
    const refusals: ImportRefusal[] = []
    outcome.refusals = refusals
    const onRefused = (refusal: ImportRefusal) => refusals.push(refusal)
    // Without the visitor nobody would see the report, and the same file can be imported again.
    const options = { update, onRefused, signal: view.request.signal, ...(name === '' ? {} : { name }) }
    outcome.report = await members.import(view.id, renamed, options)
    return outcome.report
  }
  return { outcome, work }
}

/** The counts of an import, and what it refuses. */
function resultOf(view: View, { columns }: Upload, { targets }: Choice, { report, refusals }: Outcome): Html | undefined {
  if (!report) return undefined
  const rows = refusals.slice(0, shownRefusals).map(({ row, email, column, reason, is_imported }) => {
    const given = column === null ? undefined : (columns[targets.indexOf(column)] ?? column)
    return html`<tr><th scope="row">Row ${row}</th><td data-label="Address"><span class="url">${personal(view, 'email', email ?? '–')}</span></td><td data-label="Column">${given === undefined ? '–' : own(given)}</td>
<td>${capital(reason)}${is_imported && html` <span class="soft">The member is imported without it.</span>`}</td></tr>`
  })
  const list = table({ label: 'Refused', columns: ['Row', 'Address', 'Column', 'Reason'], rows, stop: true, kind: 'cards wide' })
  const shown =
    refusals.length > shownRefusals && html`<p class="soft">The first ${shownRefusals} of ${number(refusals.length)}.</p>`
  return html`<dl><dt>New members</dt><dd>${number(report.created)}</dd><dt>Changed</dt><dd>${number(report.updated)}</dd><dt>There already</dt><dd>${number(report.known)}</dd><dt>Refused rows</dt><dd>${number(report.refused)}</dd></dl>
${rows.length > 0 && html`<h2>Refused</h2>${list}${shown}`}`
}

async function previewPage(view: View, upload: Upload, choice: Choice): Promise<PanelResponse> {
  const { outcome, work } = importing(view, upload, choice, previewedRows)
  const { text, isRefused } = await previewOf(view, work)
  const { rows, columns } = upload
  const left = columns.filter((_, index) => !choice.targets[index])
  const part =
    rows.length > previewedRows &&
    html`<p>The preview is of the first ${number(previewedRows)} of ${number(rows.length)} rows.</p>`
  const go =
    !isRefused &&
    html`<button class="primary" name="step" value="go">Import ${number(rows.length)} ${rows.length === 1 ? 'row' : 'rows'}</button> `
  const content = html`<h1>Preview of the import</h1>${text}${part}${left.length > 0 && html`<p>Left out: ${own(left.join(', '))}.</p>`}${resultOf(view, upload, choice, outcome)}
${formOf(
  view,
  html`${hidden('text', upload.text)}${hidden('format', upload.format)}${hidden('name', choice.name)}${choice.update && hidden('update', '1')}${choice.targets.map((target, index) => hidden(`column_${index}`, target))}
<p class="row">${go}<button name="step" value="columns">Back to the columns</button> <a class="button" href="${view.link('members')}">Cancel</a></p>`,
)}`
  return pageOf(view, title, content)
}

async function tagOf({ community, id }: View, title: string): Promise<Id | undefined> {
  for (let after: Id | null | undefined; after !== null; ) {
    const found = await community.tags.list(id, { limit: 1000, ...(after === undefined ? {} : { after }) })
    const tag = found.items.find((each) => titleKey(each.title) === titleKey(title))
    if (tag) return tag.id
    after = found.next
  }
  return undefined
}

async function importPage(view: View, upload: Upload, choice: Choice): Promise<PanelResponse> {
  const { outcome, work } = importing(view, upload, choice, maxRows)
  const report = await work(view.acting)
  const tag_id = await tagOf(view, report.name)
  const isNew = report.created > 0 && tag_id !== undefined
  const link = isNew
    ? html`<a class="button primary" href="${view.link('members', { tag_id })}">Show its members</a>`
    : html`<a class="button primary" href="${view.link('members')}">All members</a>`
  const done = isNew
    ? html`<p>New members: ${number(report.created)}. They carry the tag ${own(report.name)}.</p>`
    : html`<p>Nobody is new.</p>`
  const content = html`<h1>The import is done</h1>${news(isNew ? 'good' : 'calm', done)}
${resultOf(view, upload, choice, outcome)}
<p class="row">${link} <a class="button" href="${view.link(path)}">Import another file</a></p>`
  return pageOf(view, title, content)
}

async function respond(view: View): Promise<PanelResponse> {
  let upload: Upload
  try {
    upload = await uploadIn(view)
  } catch (error) {
    return startPage(view, problemsOf(error, ['file']))
  }
  const targets = await targetsOf(view)
  const choice = choiceIn(view, upload, targets)
  const step = view.form.get('step')
  if (step !== 'preview' && step !== 'go') return columnsPage(view, upload, targets, choice, noProblems)
  const problems = problemsIn(choice, targets)
  if (problems.size > 0) return columnsPage(view, upload, targets, choice, problems)
  return step === 'go' ? importPage(view, upload, choice) : previewPage(view, upload, choice)
}

export const importRoutes: readonly Route[] = [
  { method: 'GET', path, action: 'members.import', handle: (view) => startPage(view, noProblems) },
  { method: 'POST', path, action: 'members.import', larger, handle: respond },
]
