/** Statements that travel together, on a real PostgreSQL. */
import pg from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { send } from '../../../../../adapters/sql/postgres/wire/send.ts'
import { testPostgres } from '../../../../support/postgres.ts'

const server = await testPostgres()

async function connected() {
  const client = new pg.Client({ connectionString: server.url, pipeline: true })
  await client.connect()
  onTestFinished(() => client.end())
  await client.query('CREATE TEMP TABLE leaves (name text UNIQUE, size integer)')
  const kept = async () => (await send(client, 'SELECT name FROM leaves ORDER BY name')).rows.flat()
  return { client, kept }
}

const insert = 'INSERT INTO leaves VALUES ($1, $2)'
const codesOf = (settled: readonly PromiseSettledResult<unknown>[]) =>
  settled.map((each) => (each.status === 'fulfilled' ? 'done' : each.reason.code))

test('each statement of a batch gets its own response, with its rows and their number', async () => {
  const { client } = await connected()
  const responses = await Promise.all([
    send(client, 'BEGIN'),
    send(client, insert, ['oak', 3], 'one'),
    send(client, insert, ['ash', null], 'one'),
    send(client, 'SELECT name, size FROM leaves WHERE name = ANY($1::text[]) ORDER BY name', [['ash', 'oak', '"', '\\']]),
    send(client, 'UPDATE leaves SET size = 4 WHERE false'),
    send(client, 'COMMIT'),
  ])
  expect(responses.map(({ command, rowCount, rows }) => [command, rowCount, rows])).toEqual([
    ['BEGIN', null, []],
    ['INSERT', 1, []],
    ['INSERT', 1, []],
    [
      'SELECT',
      2,
      [
        ['ash', null],
        ['oak', '3'],
      ],
    ],
    ['UPDATE', 0, []],
    ['COMMIT', null, []],
  ])
})

test('a response that has arrived does not wait for the statements behind it', async () => {
  const { client } = await connected()
  const other = await server.client()
  await other.query('SELECT pg_advisory_lock(7)')
  // PostgreSQL sends 8 KiB at a time, so the end of a response leaves with the one behind it.
  const long = "SELECT repeat('x', 100000)"
  const [first, , waiting] = [send(client, long), send(client, long), send(client, 'SELECT pg_advisory_lock(7)')]
  expect(String((await first).rows[0]?.[0])).toHaveLength(100_000)
  await other.query('SELECT pg_advisory_unlock(7)')
  expect((await waiting).command).toBe('SELECT')
})

/** The last one does not fit into the memory that messages share. */
const texts = ['plain', '', 'NULL', '"', '\\', '{a,b}', 'two\nlines', 'ü – 🌿', null, '–'.repeat(100_000)]

test('texts in a list arrive as they are, and so do values beside it', async () => {
  const { client } = await connected()
  const { rows } = await send(client, 'SELECT unnest($1::text[]), $2::text, $3::int', [texts, '{"a"}', 7])
  expect(rows).toEqual(texts.map((text) => [text, '{"a"}', '7']))
})

test('a write behind a BEGIN that fails does not run', async () => {
  const { client, kept } = await connected()
  const sent = [send(client, 'BEGIN ISOLATION LEVEL NONE'), send(client, insert, ['oak', 3])]
  expect(codesOf(await Promise.allSettled(sent))).toEqual(['42601', '25P02'])
  expect(await kept()).toEqual([])
})

test('statements before the one that fails have their responses, and the connection continues', async () => {
  const { client, kept } = await connected()
  const sent = [
    send(client, 'BEGIN'),
    send(client, insert, ['oak', 3], 'one'),
    send(client, insert, ['oak', 3], 'one'),
    send(client, 'SELECT size FROM leaves WHERE name = $1', ['oak'], 'two'),
  ]
  expect(codesOf(await Promise.allSettled(sent))).toEqual(['done', 'done', '23505', '25P02'])
  await send(client, 'ROLLBACK')
  // The second text was never parsed, and the first one is not parsed again.
  await send(client, insert, ['ash', 1], 'one')
  expect((await send(client, 'SELECT size FROM leaves WHERE name = $1', ['ash'], 'two')).rows).toEqual([['1']])
  expect(await kept()).toEqual(['ash'])
})

test('a statement that cannot be parsed may be sent again under its name', async () => {
  const { client } = await connected()
  const read = () => send(client, 'SELECT count(*) FROM later', [], 'three')
  await expect(read()).rejects.toMatchObject({ code: '42P01' })
  await send(client, 'CREATE TEMP TABLE later (name text)')
  expect((await read()).rows).toEqual([['0']])
})

test('statements that wait for their response get the error when the connection ends', async () => {
  const { client } = await connected()
  client.on('error', () => {})
  const sent = [send(client, 'BEGIN'), send(client, 'SELECT pg_terminate_backend(pg_backend_pid())'), send(client, 'COMMIT')]
  const [begin, ended, commit] = await Promise.allSettled(sent)
  expect([begin, ended, commit].map((each) => each?.status)).toEqual(['fulfilled', 'rejected', 'rejected'])
})
