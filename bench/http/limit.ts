/**
 * The limit that the engines themselves set, `limit.ts sqlite|sqlite-lists|postgres PLACE`: a small server over one of them. It
 * keeps each record as ready text, has one network and no keys, and writes a post with its event as durably as the API. Only
 * `sqlite-lists` could list the posts of a space: it has the API's index of them, and nothing else that `sqlite` lacks.
 */
import { createServer, type ServerResponse } from 'node:http'
import process from 'node:process'
import { DatabaseSync } from 'node:sqlite'
import pg from 'pg'
import { memberCount, records, serving } from './records.ts'
import { firstMember } from './seeded.ts'

interface Limit {
  byId(id: string): string | Promise<string>
  page(length: number): Uint8Array | string | Promise<string>
  /** Keeps a post and its event; both are durable when the response is sent. */
  add(text: string, space: number): Promise<void>
}

const tables = `
  CREATE TABLE members (id integer PRIMARY KEY, json text NOT NULL);
  CREATE TABLE posts (id integer PRIMARY KEY, json text NOT NULL, network integer NOT NULL, space integer NOT NULL);
  CREATE TABLE outbox (seq integer PRIMARY KEY, body text NOT NULL);`

const index = 'CREATE INDEX posts_space ON posts (network, space, id);'

/** Writes of one turn of the event loop share a commit. */
function sqliteLimit(file: string, rows: readonly (readonly [number, string])[], lists: boolean): Limit {
  const database = new DatabaseSync(file)
  database.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; ${tables} ${lists ? index : ''}`)
  const member = database.prepare('INSERT INTO members VALUES (?, ?)')
  database.exec('BEGIN')
  for (const [id, json] of rows) member.run(id, json)
  database.exec('COMMIT')
  const one = database.prepare('SELECT json FROM members WHERE id = ?')
  const page = database.prepare(
    `SELECT CAST('{"items":[' || group_concat(json, ',') || ']}' AS BLOB) AS page FROM (SELECT json FROM members LIMIT ?)`,
  )
  const post = database.prepare('INSERT INTO posts (json, network, space) VALUES (?, 1, ?)')
  const event = database.prepare('INSERT INTO outbox (body) VALUES (?)')
  const [begin, commit] = [database.prepare('BEGIN IMMEDIATE'), database.prepare('COMMIT')]
  let waiting: { readonly text: string; readonly space: number; readonly done: () => void }[] = []
  function write(): void {
    const group = waiting
    waiting = []
    begin.run()
    for (const { text, space } of group) {
      post.run(text, space)
      event.run(text)
    }
    commit.run()
    for (const { done } of group) done()
  }
  return {
    byId: (id) => String(one.get(Number(id))?.['json']),
    page: (length) => page.get(length)?.['page'] as Uint8Array,
    add(text, space) {
      if (waiting.length === 0) setImmediate(write)
      return new Promise((done) => waiting.push({ text, space, done }))
    },
  }
}

/** Post and event are one statement. */
async function postgresLimit(connectionString: string, rows: readonly (readonly [number, string])[]): Promise<Limit> {
  const schema = `limit_${process.pid}`
  const pool = new pg.Pool({ connectionString, max: 10, options: `-c search_path=${schema}` })
  await pool.query(`CREATE SCHEMA ${schema}`)
  await pool.query(tables.replaceAll('integer PRIMARY KEY', 'bigserial PRIMARY KEY'))
  await pool.query('INSERT INTO members SELECT * FROM unnest($1::bigint[], $2::text[])', [
    rows.map(([id]) => id),
    rows.map(([, json]) => json),
  ])
  const values = async (name: string, text: string, parameters: readonly unknown[]): Promise<string[]> => {
    const { rows } = await pool.query({ name, text, values: [...parameters], rowMode: 'array' })
    return rows.map(([value]) => String(value))
  }
  return {
    byId: async (id) => (await values('one', 'SELECT json FROM members WHERE id = $1', [id]))[0] ?? '',
    page: async (length) => `{"items":[${(await values('page', 'SELECT json FROM members LIMIT $1', [length])).join(',')}]}`,
    async add(text, space) {
      const insert =
        'WITH post AS (INSERT INTO posts (json, network, space) VALUES ($1, 1, $2)) INSERT INTO outbox (body) VALUES ($1)'
      await values('add', insert, [text, space])
    },
  }
}

const [engine, place = ''] = process.argv.slice(2)
const kept = await records()
const ids = Array.from({ length: memberCount }, (_, place) => firstMember + place)
const rows = ids.map((id) => [id, JSON.stringify(kept.byId(String(id)))] as const)
const limit = engine === 'postgres' ? await postgresLimit(place, rows) : sqliteLimit(place, rows, engine === 'sqlite-lists')

function send(response: ServerResponse, status: number, body: string | Uint8Array): void {
  const length = typeof body === 'string' ? Buffer.byteLength(body) : body.length
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8', 'content-length': length }).end(body)
}

serving(
  createServer((request, response) => {
    const { method, url = '' } = request
    if (method === 'POST') {
      const chunks: Buffer[] = []
      request.on('data', (chunk: Buffer) => chunks.push(chunk))
      request.on('end', async () => {
        const given = JSON.parse(Buffer.concat(chunks).toString('utf8'))
        const text = JSON.stringify(kept.add(given))
        await limit.add(text, Number(given.space_id))
        send(response, 201, text)
      })
      return
    }
    const perPage = /per_page=(\d+)/.exec(url)?.[1]
    const found = perPage ? limit.page(Number(perPage)) : limit.byId(url.split('/')[6] ?? '')
    if (found instanceof Promise) void found.then((body) => send(response, 200, body))
    else send(response, 200, found)
  }),
)
