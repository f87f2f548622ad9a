import { expect, test } from 'vitest'
import { createTestCommunity, nobody } from '../../support/community.ts'
import type { Json } from '../../support/json.ts'
import { idsOf, neighbour, newSpace, now } from '../../support/records.ts'

/** A space for a course, and short ways to change what is in it. */
async function course() {
  const test = await createTestCommunity()
  const { id: space_id } = await newSpace(test, 'First strokes')
  const create = (type: string, fields: object = {}) =>
    test.send('courseworks.create', { params: { space_id }, body: { type, ...fields } })
  const made = async (type: string, title: string, parent?: Json): Promise<Json> =>
    (await create(type, { title, ...(parent ? { parent_id: parent.id } : {}) })).body
  const list = async (query = {}): Promise<Json[]> =>
    (await test.send('courseworks.list', { params: { space_id }, query })).body.items
  const update = (id: string, body: object) => test.send('courseworks.update', { params: { space_id, id }, body })
  const remove = (id: string) => test.send('courseworks.delete', { params: { space_id, id } })
  const show = async (id: string): Promise<Json> => (await test.send('courseworks.show', { params: { space_id, id } })).body
  /** The titles under a parent, by place, and whether the places have no gaps. */
  const under = async (parent: Json): Promise<string> => {
    const items = (await list({ parent_id: parent.id })).sort((a, b) => a.position - b.position)
    expect(items.map((item) => item.position)).toEqual(items.map((_, index) => index + 1))
    expect((await show(parent.id)).children_count).toBe(items.length)
    return items.map((item) => item.title).join('')
  }
  return { test, space_id, create, made, list, update, remove, show, under }
}

test('the first item of a course brings its overview along', async () => {
  const { test, space_id, create, list } = await course()
  expect(await list()).toEqual([])
  const created = await create('section', { title: 'Basics' })
  const [overview, section] = await list()
  expect(created.status).toBe(201)
  expect(created.body).toEqual({
    id: expect.stringMatching(/^\d+$/),
    created_at: now,
    updated_at: now,
    space_id,
    type: 'section',
    parent_id: overview.id,
    parent_type: 'overview',
    title: 'Basics',
    description: null,
    status: 'hidden',
    position: 1,
    completion_criteria: 'none',
    unlocking_criteria: 'none',
    children_count: 0,
    permalink: `https://demo.example/courseworks/${created.body.id}`,
  })
  expect(section).toEqual(created.body)
  expect(overview).toEqual({
    ...section,
    id: overview.id,
    type: 'overview',
    parent_id: null,
    parent_type: null,
    title: 'First strokes',
    status: 'posted',
    children_count: 1,
    permalink: `https://demo.example/courseworks/${overview.id}`,
  })
  await create('lesson')
  expect((await list({ type: 'overview' })).map(({ id, children_count }) => [id, children_count])).toEqual([[overview.id, 2]])
  expect(test.newEvents()).toEqual([])
})

test('first items at the same time make one overview', async () => {
  const { create, list } = await course()
  await Promise.all([create('lesson'), create('section'), create('quiz')])
  const [overview, ...others] = await list({ type: 'overview' })
  expect(others).toEqual([])
  expect((await list({ parent_id: overview.id })).map((item) => item.position).sort()).toEqual([1, 2, 3])
})

test('each space has its own overview', async () => {
  const { test, create } = await course()
  const other = await newSpace(test, 'Light')
  const first = (await create('lesson')).body
  const second = (await test.send('courseworks.create', { params: { space_id: other.id }, body: { type: 'lesson' } })).body
  expect(second).toMatchObject({ space_id: other.id, parent_type: 'overview', position: 1 })
  expect(second.parent_id).not.toBe(first.parent_id)
})

test('a lesson takes everything that it is given', async () => {
  const { create, made, show } = await course()
  const section = await made('section', 'Basics')
  const fields = {
    title: 'Soil',
    description: '<p>Soft</p>',
    status: 'posted',
    completion_criteria: 'minimum_correct_percentage',
    unlocking_criteria: 'scheduled_date',
  }
  const created = await create('quiz', { parent_id: Number(section.id), ...fields })
  expect(created).toMatchObject({ status: 201, body: { type: 'quiz', parent_id: section.id, parent_type: 'section', ...fields } })
  expect(await show(created.body.id)).toEqual(created.body)
  expect((await show(section.id)).children_count).toBe(1)
})

test.each([
  [{}, 'type is required'],
  [{ type: 'overview' }, 'type must be one of lesson, quiz, section'],
  [{ type: 'lesson', status: 'draft' }, 'status must be one of posted, hidden, pending'],
  [
    { type: 'lesson', completion_criteria: 'luck' },
    'completion_criteria must be one of none, visited, button, video, minimum_correct_percentage',
  ],
  [
    { type: 'lesson', unlocking_criteria: 'key' },
    'unlocking_criteria must be one of none, sequential, time_from_course_join, scheduled_date',
  ],
  [{ type: 'lesson', parent_id: 'first' }, 'parent_id must be an id'],
  [{ type: 'lesson', title: 5 }, 'title must be a text'],
])('an item of %o is refused, and no overview is left behind', async (body, error) => {
  const { test, space_id, list } = await course()
  const refused = await test.send('courseworks.create', { params: { space_id }, body })
  expect(refused).toMatchObject({ status: 422, body: { error } })
  expect(await list()).toEqual([])
})

test('lessons, quizzes and sections stand under the overview or a section', async () => {
  const { create, made } = await course()
  const section = await made('section', 'S')
  const lesson = await made('lesson', 'L', section)
  const quiz = await made('quiz', 'Q')
  const responses = [
    ['lesson', section.parent_id, 201, 'overview'],
    ['section', section.parent_id, 201, 'overview'],
    ['quiz', section.id, 201, 'section'],
    ['section', section.id, 201, 'section'],
    ['lesson', lesson.id, 422, 'parent_id must name a section or the overview, not a lesson'],
    ['section', quiz.id, 422, 'parent_id must name a section or the overview, not a quiz'],
  ] as const
  for (const [type, parent_id, status, outcome] of responses) {
    const { status: actual, body } = await create(type, { parent_id })
    expect([actual, body.error ?? body.parent_type]).toEqual([status, outcome])
  }
})

test('a parent that is not there, or in another space, is not found on creation', async () => {
  const { test, create } = await course()
  const other = await newSpace(test, 'Light')
  const elsewhere = (await test.send('courseworks.create', { params: { space_id: other.id }, body: { type: 'section' } })).body
  for (const parent_id of [nobody, elsewhere.id])
    expect(await create('lesson', { parent_id })).toMatchObject({ status: 404, body: { error: 'Parent not found' } })
})

test('items are listed in ascending order of id, by type, parent and status', async () => {
  const { test, space_id, made, list, update } = await course()
  const section = await made('section', 'S')
  const [first, second] = [await made('lesson', 'A', section), await made('lesson', 'B')]
  const quiz = await made('quiz', 'Q', section)
  await update(second.id, { status: 'posted' })
  const ids = async (query: object) => (await list(query)).map((item) => item.id)
  expect(await ids({})).toEqual([section.parent_id, section.id, first.id, second.id, quiz.id])
  expect(await ids({ type: 'lesson' })).toEqual([first.id, second.id])
  expect(await ids({ parent_id: section.id })).toEqual([first.id, quiz.id])
  expect(await ids({ parent_id: section.parent_id, type: 'lesson', status: 'posted' })).toEqual([second.id])
  expect(await ids({ parent_id: nobody })).toEqual([])
  expect(await test.send('courseworks.list', { params: { space_id }, query: { type: 'exam' } })).toMatchObject({
    status: 422,
    body: { error: 'type must be one of lesson, quiz, section, overview' },
  })
})

test.each(['courseworks.update', 'courseworks.replace'])('%s with one field leaves the others', async (operation) => {
  const { test, space_id, made, show } = await course()
  const section = await made('section', 'S')
  const lesson = await made('lesson', 'L', section)
  const params = { space_id, id: lesson.id }
  test.clock.advance(1000)
  const changed = await test.send(operation, { params, body: { title: 'Clay', parent_id: section.id, status: null } })
  expect(changed.status).toBe(200)
  expect(changed.body).toEqual({ ...lesson, title: 'Clay', updated_at: '2026-11-20T10:00:01.000Z' })
  expect(await show(lesson.id)).toEqual(changed.body)
  const described = await test.send(operation, { params, body: { description: 'Wet' } })
  expect(described.body.description).toBe('Wet')
  expect((await test.send(operation, { params, body: { description: null } })).body.description).toBeNull()
})

test('an item moves to the end of another parent, and its old siblings close the gap', async () => {
  const { made, update, show, under } = await course()
  const [one, two] = [await made('section', 'S'), await made('section', 'T')]
  for (const title of ['A', 'B', 'C']) await made('lesson', title, one)
  const moving = await made('quiz', 'D', one)
  await made('lesson', 'E', one)
  await made('lesson', 'F', two)
  const moved = await update(moving.id, { parent_id: two.id })
  expect(moved).toMatchObject({ status: 200, body: { parent_id: two.id, parent_type: 'section', position: 2 } })
  expect(await under(one)).toBe('ABCE')
  expect(await under(two)).toBe('FD')
  await update(moving.id, { parent_id: one.parent_id })
  expect(await under(two)).toBe('F')
  expect(await under(await show(one.parent_id))).toBe('STD')
})

test('what cannot stand under a parent cannot move there either', async () => {
  const { test, made, update, show } = await course()
  const [one, two] = [await made('section', 'S'), await made('section', 'T')]
  const lesson = await made('lesson', 'L', one)
  const inner = await made('section', 'I', await made('section', 'J', one))
  const other = await newSpace(test, 'Light')
  const elsewhere = (await test.send('courseworks.create', { params: { space_id: other.id }, body: { type: 'section' } })).body
  const refusals = [
    [one.id, one.id, 'parent_id must not name the section itself or anything under it'],
    [one.id, inner.id, 'parent_id must not name the section itself or anything under it'],
    [one.id, lesson.id, 'parent_id must name a section or the overview, not a lesson'],
    [lesson.id, lesson.id, 'parent_id must name a section or the overview, not a lesson'],
    [one.parent_id, two.id, 'parent_id: the overview cannot be moved'],
    [lesson.id, nobody, 'parent_id: there is no such item in this space'],
    [lesson.id, elsewhere.id, 'parent_id: there is no such item in this space'],
  ]
  for (const [id, parent_id, error] of refusals)
    expect(await update(id, { title: 'Moved', parent_id })).toMatchObject({ status: 422, body: { error } })
  expect(await show(one.id)).toEqual({ ...one, children_count: 2 })
  expect(await show(lesson.id)).toEqual(lesson)
})

test('a section moves into another one with everything under it, and comes out again', async () => {
  const { made, update, show, under } = await course()
  const [one, two] = [await made('section', 'S'), await made('section', 'T')]
  await made('lesson', 'A', two)
  expect(await update(two.id, { parent_id: one.id })).toMatchObject({
    status: 200,
    body: { parent_type: 'section', position: 1 },
  })
  expect(await under(one)).toBe('T')
  expect(await under(two)).toBe('A')
  await update(two.id, { parent_id: one.parent_id })
  expect(await under(await show(one.parent_id))).toBe('ST')
})

test('sections nest ten levels deep and no deeper, created or moved', async () => {
  const { create, made, update } = await course()
  const chain = [await made('section', '1')]
  for (let level = 2; level <= 10; level++) chain.push(await made('section', `${level}`, chain.at(-1)))
  const tooDeep = { status: 422, body: { error: 'parent_id: sections nest at most 10 levels deep' } }
  expect(await create('section', { parent_id: chain.at(-1)?.id })).toMatchObject(tooDeep)
  expect(await create('lesson', { parent_id: chain.at(-1)?.id })).toMatchObject({ status: 201 })
  const loose = await made('section', 'loose')
  expect(await update(chain[0].id, { parent_id: loose.id })).toMatchObject(tooDeep)
  expect(await update(chain[1].id, { parent_id: loose.id })).toMatchObject({ status: 200 })
})

test('deleting an item closes the gap among its siblings', async () => {
  const { made, remove, under } = await course()
  const section = await made('section', 'S')
  const [, middle] = [await made('lesson', 'A', section), await made('lesson', 'B', section), await made('lesson', 'C', section)]
  expect(await remove(middle.id)).toMatchObject({ status: 204, body: undefined })
  expect(await under(section)).toBe('AC')
  expect((await remove(middle.id)).body).toEqual({ error: 'Coursework not found' })
  await made('lesson', 'D', section)
  expect(await under(section)).toBe('ACD')
})

test('the gap closes however long the list is', async () => {
  const { test, space_id, create, remove } = await course()
  const first = (await create('lesson')).body
  for (let place = 2; place <= 420; place++) await create('lesson')
  await remove(first.id)
  const places: number[] = []
  for (let query: Record<string, string | number> | null = { type: 'lesson', per_page: 100 }; query; ) {
    const { body }: Json = await test.send('courseworks.list', { params: { space_id }, query })
    places.push(...body.items.map((item: Json) => item.position))
    query = body.links.next && Object.fromEntries(new URL(body.links.next).searchParams)
  }
  expect(places).toEqual(Array.from({ length: 419 }, (_, index) => index + 1))
})

test('deleting a section deletes what stands under it, deleting the overview the whole course', async () => {
  const { made, remove, list, show, under } = await course()
  const [one, two] = [await made('section', 'S'), await made('section', 'T')]
  await made('lesson', 'A', one)
  await made('quiz', 'B', one)
  const kept = await made('lesson', 'C', two)
  await remove(one.id)
  const overview = await show(two.parent_id)
  expect((await list()).map((item) => item.id)).toEqual([overview.id, two.id, kept.id])
  expect(await under(overview)).toBe('T')
  expect((await remove(overview.id)).status).toBe(204)
  expect(await list()).toEqual([])
  expect((await made('section', 'Anew')).parent_id).not.toBe(overview.id)
})

test.each([
  ['list', {}],
  ['create', { body: { type: 'lesson' } }],
  ['show', {}],
  ['update', { body: {} }],
  ['replace', { body: {} }],
  ['delete', {}],
])('%s in a space that is not there, or is another network’s, is a 404', async (verb, parts) => {
  const { test, made } = await course()
  const { id } = await made('lesson', 'A')
  const theirs = await neighbour(test)
  for (const space_id of [nobody, theirs.space.id]) {
    const missing = await test.send(`courseworks.${verb}`, { params: { space_id, id }, ...parts })
    expect(missing).toMatchObject({ status: 404, body: { error: 'Space not found' } })
  }
})

test.each([
  ['show', {}],
  ['update', { body: {} }],
  ['replace', { body: {} }],
  ['delete', {}],
])('%s of an item of another space is a 404', async (verb, parts) => {
  const { test, space_id, made } = await course()
  const other = await newSpace(test, 'Light')
  const { id } = await made('lesson', 'A')
  const missing = { status: 404, body: { error: 'Coursework not found' } }
  expect(await test.send(`courseworks.${verb}`, { params: { space_id: other.id, id }, ...parts })).toMatchObject(missing)
  expect(await test.send(`courseworks.${verb}`, { params: { space_id, id: nobody }, ...parts })).toMatchObject(missing)
  expect(idsOf(await test.send('courseworks.list', { params: { space_id }, query: { type: 'lesson' } }))).toEqual([id])
})
