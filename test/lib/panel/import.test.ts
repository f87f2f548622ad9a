/** Members from a file: uploaded, its columns mapped, previewed and imported, by forms that carry the file. */
import { expect, test } from 'vitest'
import { admin, createTestPanel, type Seen } from './support.ts'

async function panelWithImport(...given: Parameters<typeof createTestPanel>) {
  const run = await createTestPanel(...given)
  const send = (fields: Record<string, string | File>) => {
    const body = new FormData()
    for (const [name, value] of Object.entries(fields)) body.append(name, value)
    return run.send('1/members/import', { method: 'POST', headers: { 'sec-fetch-site': 'same-origin' }, body })
  }
  const upload = (text: string | Uint8Array<ArrayBuffer>, name = 'people.csv') => send({ file: new File([text], name) })
  /** Sends the form of a page as a browser does. */
  const next = (page: Seen, step: string, changes: Record<string, string> = {}) => send({ ...fieldsOf(page), step, ...changes })
  const people = async () =>
    (await run.community.members.list('1', { state: 'active' })).items.map(
      ({ first_name, last_name }) => `${first_name} ${last_name}`,
    )
  return { ...run, upload, next, people, sendForm: send }
}

const plain = (text: string) =>
  text.replace(
    /&(?:lt|gt|quot|amp|#39);/g,
    (entity) => ({ '&lt;': '<', '&gt;': '>', '&quot;': '"', '&amp;': '&', '&#39;': "'" })[entity] ?? '',
  )

function fieldsOf({ text }: Seen): Record<string, string> {
  const hidden = [...text.matchAll(/<input type="hidden" name="(\w+)" value="([^"]*)">/g)].map(([, name, value]) => [
    name,
    plain(value ?? ''),
  ])
  const selects = [...text.matchAll(/<select [^>]*name="(\w+)"[^>]*>(.*?)<\/select>/gs)].map(([, name, options]) => [
    name,
    plain(/<option value="([^"]*)" selected>/.exec(options ?? '')?.[1] ?? ''),
  ])
  // A browser makes CRLF of each line break of a field.
  return Object.fromEntries([...hidden, ...selects].map(([name, value]) => [name, value?.replace(/\r?\n/g, '\r\n')]))
}

const counts = ({ text }: Seen) =>
  Object.fromEntries([...text.matchAll(/<dt>([^<]+)<\/dt><dd>([\d,]+)<\/dd>/g)].map(([, name, count]) => [name, count]))

const file = `E-Mail;First name;Last name;Town;Shoe
grace@example.org;Grace;Hopper;"Ulm ""old""
town";43
nobody;Nobody;;;
host@example.org;Ada;Host;;`

test('a file is uploaded, its columns are guessed, and it is previewed and imported, once', async () => {
  const { community, get, upload, next, people } = await panelWithImport()
  const field = { title: 'Town', response_type: 'text_long', privacy: 'public', response_by: 'individual_member' } as const
  await community.call('custom_fields.create', { network: '1', body: field })
  const start = await get('1/members/import')
  expect(start.text).toContain('enctype="multipart/form-data"')
  const columns = await upload(file)
  expect(columns.status).toBe(200)
  expect(fieldsOf(columns)).toMatchObject({
    ...{ format: 'csv', column_0: 'email', column_1: 'first_name', column_2: 'last_name', column_3: 'Town', column_4: '' },
  })
  const preview = await next(columns, 'preview', { name: 'Spring' })
  expect(counts(preview)).toEqual({ 'New members': '1', Changed: '0', 'There already': '1', 'Refused rows': '1' })
  expect(preview.text).toContain('nothing was changed')
  expect(preview.text).toMatch(/Row 2<.*E-Mail/s)
  expect(await people()).toEqual(['Ada Host'])
  const back = await next(preview, 'columns')
  expect(fieldsOf(back)).toEqual(fieldsOf(columns))
  expect(back.text).toContain('value="Spring"')
  const done = await next(preview, 'go')
  expect(counts(done)).toEqual(counts(preview))
  expect(await people()).toEqual(['Grace Hopper', 'Ada Host'])
  const [grace] = (await community.members.list('1', { q: 'grace' })).items
  const found = await community.members.get('1', grace?.id ?? '')
  expect(found.answers.items).toMatchObject([{ field: 'Town', answer: { text: 'Ulm "old"\ntown' } }])
  const [tag] = (await community.tags.list('1')).items
  expect(tag).toMatchObject({ title: 'Spring', member_count: 1 })
  expect(done.text).toContain(`members?tag_id=${tag?.id}"`)
  expect(counts(await next(preview, 'go'))).toMatchObject({ 'New members': '0', 'There already': '2' })
  const { items } = await community.audit.list({ network: '1', action: 'members.imported' })
  expect(new Set(items.map(({ actor }) => actor))).toEqual(new Set([admin.actor]))
})

test('the preview names the columns that are left out, and an import without a new member leads to no tag', async () => {
  const { upload, next } = await panelWithImport()
  const columns = await upload('email;Shoe <b>;Hat\nhost@example.org;43;7', 'people.csv')
  expect((await next(columns, 'preview')).text).toContain('<p>Left out: <bdi>Shoe &lt;b&gt;, Hat</bdi>.</p>')
  const { text } = await next(columns, 'go')
  expect(text).toContain('Nobody is new.')
  expect(text).toMatch(/href="[^"]*1\/members">All members</)
  expect(text).not.toContain('carry the tag')
})

test('many columns and thousands of custom fields share one list, in which a field that is not there is refused', async () => {
  const { community, upload, next } = await panelWithImport()
  for (let n = 0; n < 150; n++) {
    const field = {
      title: `Field ${n}`,
      response_type: 'text_short',
      privacy: 'public',
      response_by: 'individual_member',
    } as const
    await community.call('custom_fields.create', { network: '1', body: field })
  }
  const others = Array.from({ length: 300 }, (_, n) => `field ${n}`)
  const columns = await upload(`email,${others.join()}\nben@example.org,${others.join()}`)
  expect(columns.text.length).toBeLessThan(200_000)
  expect(columns.text.match(/<option value="Field 7"/g)).toHaveLength(1)
  expect(columns.text).toMatch(/name="column_8"[^>]*list="fields"[^>]*value="Field 7"/)
  const chosen = { column_0: 'email', column_1: 'Field 1', column_2: 'name' }
  const wrong = await next(columns, 'preview', { ...chosen, column_3: 'Shoe' })
  expect([wrong.status, wrong.text.includes('There is no field “Shoe”')]).toEqual([422, true])
  expect((await next(columns, 'go', chosen)).text).toContain('New members: 1.')
})

test('a file of NDJSON is imported, and members who are there are changed only when told to', async () => {
  const { upload, next, people } = await panelWithImport()
  const columns = await upload(
    '{"mail":"host@example.org","surname":"Lovelace"}\n{"mail":"ben@example.org","name":"Ben Blue"}',
    'people.ndjson',
  )
  expect(fieldsOf(columns)).toMatchObject({ format: 'ndjson', column_0: 'email', column_1: 'last_name', column_2: 'name' })
  expect(counts(await next(columns, 'go'))).toMatchObject({ 'New members': '1', 'There already': '1' })
  expect(counts(await next(columns, 'go', { update: '1' }))).toMatchObject({ Changed: '2' })
  expect((await people()).toSorted()).toEqual(['Ada Lovelace', 'Ben Blue'])
})

test('without the column of addresses, and with a field twice, nothing is imported', async () => {
  const { upload, next, people } = await panelWithImport()
  const columns = await upload('email,first_name,last_name\nben@example.org,Ben,Blue')
  for (const [changes, problem] of [
    [{ column_0: '' }, 'Choose the column that has the e-mail addresses'],
    [{ column_0: '__proto__' }, 'Choose the column that has the e-mail addresses'],
    [{ column_2: 'first_name' }, 'Another column is this field already'],
  ] as const) {
    const { status, text } = await next(columns, 'go', changes)
    expect([status, text.includes(problem)]).toEqual([422, true])
  }
  expect(await people()).toEqual(['Ada Host'])
})

const rows = (count: number) =>
  `email,first_name\n${Array.from({ length: count }, (_, row) => `m${row}@example.org,M`).join('\n')}`

test.each([
  ['no file', '', /choose one|is empty/],
  ['a header alone', 'email,name\n', /has no row/],
  ['a quote that does not end', 'email\n"a', /row 1 has a quote that does not end/],
  ['another encoding', new Uint8Array([0x65, 0x0a, 0xe9, 0x0a]), /must be UTF-8/],
  ['too many rows', rows(5001), /more than 5,000 rows.*folkmoot members import/],
  ['too many bytes', 'x'.repeat(5_000_001), /more than 5 MB.*folkmoot members import/],
  [
    'too many columns',
    `email,${Array.from({ length: 500 }, (_, column) => column).join()}\na@example.org`,
    /more than 500 columns/,
  ],
])('%s is refused, and the form is shown again', async (_, text, problem) => {
  const { upload } = await panelWithImport()
  const page = await upload(text)
  expect(page.status).toBe(422)
  expect(page.text.replace(/\s+/g, ' ')).toMatch(problem)
  expect(page.text).toContain('type="file"')
})

test('a form beyond all bounds is a 413 that names the command, and without a file it is a 422', async () => {
  const { upload, sendForm, post, faults } = await panelWithImport()
  const { status, text } = await upload('x'.repeat(6 * 1024 * 1024))
  expect([status, text.includes('folkmoot members import')]).toEqual([413, true])
  expect((await sendForm({ file: new File([], '') })).status).toBe(422)
  expect((await sendForm({ step: 'go' })).text).toContain('File is missing: choose one')
  expect((await post('1/members/import', { text: 'email\na@example.org', column_0: 'email', step: 'preview' })).status).toBe(200)
  expect(faults).toEqual([])
})

test('a large import previews its first rows, and says so', async () => {
  const { upload, next } = await panelWithImport()
  const { text } = await next(await upload(rows(1001)), 'preview')
  expect(text).toContain('first 1,000 of 1,001 rows')
  expect(text).toContain('Import 1,001 rows')
})

test('names of a file are text, and addresses are masked where the host masks them', async () => {
  const { upload, next } = await panelWithImport(admin, { maskedFields: ['email'] })
  const columns = await upload('email,<b>first</b>\n"<i>nobody</i>",x')
  expect(columns.text).toContain('&lt;b&gt;first&lt;/b&gt;')
  const { text } = await next(columns, 'preview')
  expect(text).not.toContain('<i>nobody')
  expect(text).toContain('•••')
})

test('a name that is refused is shown in the preview, which then offers no import', async () => {
  const { upload, next } = await panelWithImport()
  const { text } = await next(await upload('email\nben@example.org'), 'preview', { name: 'x'.repeat(300) })
  expect(text).toContain('class="note bad"')
  expect(text).not.toContain('value="go"')
})

test('only who may import sees the link to it', async () => {
  expect((await (await panelWithImport()).get('1/members')).text).toContain('members/import"')
  expect((await (await panelWithImport({ ...admin, access: 'read' })).get('1/members')).text).not.toContain('members/import')
})
