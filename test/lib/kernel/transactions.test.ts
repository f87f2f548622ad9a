import { expect, test } from 'vitest'
import { memoryStorage } from '../../../adapters/storage/memory.ts'
import { ApiError } from '../../../lib/index.ts'
import type { Storage } from '../../../lib/storage/contract.ts'
import { Conflict, StorageError, type Tx, UniqueViolation } from '../../../lib/storage/contract.ts'
import { createTestCommunity } from '../../support/community.ts'
import { wrappedStorage } from '../../support/storage.ts'

const member = { email: 'new@example.org', first_name: 'New', last_name: 'Member' }

/** A storage whose next inserts into a table throw what the list holds, one after the other. */
function troubled(table: string, troubles: (() => unknown)[]): Storage {
  return wrappedStorage(memoryStorage(), {
    tx: (tx: Tx) => ({
      async insert(into, row) {
        const trouble = into.name === table ? troubles.shift() : undefined
        if (trouble) throw trouble()
        return tx.insert(into, row)
      },
    }),
  })
}

test('a transaction that lost a race is run again, and publishes once', async () => {
  const seen: string[] = []
  const troubles: (() => unknown)[] = []
  const storage = troubled('members', troubles)
  const { send, faults } = await createTestCommunity({
    storage,
    hooks: { before: ({ operation }) => void seen.push(operation.id), after: ({ event_type }) => void seen.push(event_type) },
  })
  troubles.push(
    () => new Conflict('first'),
    () => new Conflict('second'),
  )
  const response = await send('members.create', { body: { ...member, send_welcome_email: false } })
  expect(response.status).toBe(201)
  await storage.close()
  expect(seen).toEqual(['members.create', 'members.create', 'members.create', 'MemberJoinedHook'])
  expect(faults).toEqual([])
})

test('a new id that is taken is drawn again', async () => {
  const troubles: (() => unknown)[] = []
  const { send } = await createTestCommunity({ storage: troubled('segments', troubles) })
  troubles.push(() => new UniqueViolation('segments', ['id']))
  expect((await send('tags.create', { body: { title: 'x' } })).status).toBe(201)
})

test('a race that is lost again and again ends in a 503 that may be tried later', async () => {
  const troubles: (() => unknown)[] = []
  const { send } = await createTestCommunity({ storage: troubled('segments', troubles) })
  troubles.push(...Array.from({ length: 20 }, () => () => new Conflict('again')))
  const response = await send('tags.create', { body: { title: 'x' } })
  expect({ status: response.status, body: response.body, retryAfter: response.headers.get('retry-after') }).toEqual({
    status: 503,
    body: {
      error: 'The storage is busy or cannot be reached; nothing was written. Try again',
      request_id: expect.any(String),
    },
    retryAfter: '5',
  })
  expect(troubles).toHaveLength(4)
})

test('a race that is lost fifteen times and then won is no error', async () => {
  const troubles: (() => unknown)[] = []
  const { send, faults } = await createTestCommunity({ storage: troubled('segments', troubles) })
  troubles.push(...Array.from({ length: 15 }, () => () => new Conflict('again')))
  expect((await send('tags.create', { body: { title: 'x' } })).status).toBe(201)
  expect({ troubles, faults }).toEqual({ troubles: [], faults: [] })
})

test('a unique key that stays taken is a 422 with the field', async () => {
  const troubles: (() => unknown)[] = []
  const { send, faults } = await createTestCommunity({ storage: troubled('members', troubles) })
  troubles.push(...Array.from({ length: 10 }, () => () => new UniqueViolation('members', ['network_id', 'email_key'])))
  const response = await send('members.create', { body: member })
  expect({ status: response.status, body: response.body }).toEqual({
    status: 422,
    body: { error: 'email has already been taken' },
  })
  expect(faults).toEqual([])
})

test('of many concurrent requests for one address one gets it, and the others a 422', async () => {
  const { send, newEvents } = await createTestCommunity()
  const responses = await Promise.all(Array.from({ length: 10 }, () => send('members.create', { body: member })))
  expect(responses.map(({ status }) => status).sort()).toEqual([201, ...Array(9).fill(422)])
  expect(new Set(responses.filter(({ status }) => status === 422).map(({ body }) => body.error))).toEqual(
    new Set(['email is already a member of this network']),
  )
  expect(newEvents()).toHaveLength(1)
})

test('who read before the other one committed gets the same 422 from the unique key', async () => {
  // Of the two transactions neither sees the other's row, as in a database that runs both at once.
  let blind = false
  const storage = wrappedStorage(memoryStorage(), {
    tx: (tx) => ({ find: async (table, query) => (blind && table.name === 'members' ? [] : tx.find(table, query)) }),
  })
  const { send, newEvents } = await createTestCommunity({ storage })
  expect((await send('members.create', { body: member })).status).toBe(201)
  newEvents()
  blind = true
  const second = await send('members.create', { body: member })
  expect({ status: second.status, body: second.body }).toEqual({ status: 422, body: { error: 'email has already been taken' } })
  expect(newEvents()).toEqual([])
})

test.each([
  ['full', 'The storage is full; nothing was written'],
  ['unavailable', 'The storage is busy or cannot be reached; nothing was written. Try again'],
  ['closed', 'The server is shutting down. Nothing was saved; try again later'],
  [
    'unknown',
    'The storage did not respond, so this may have been written. ' +
      'Repeat the request with the same Idempotency-Key. Without a key, first check whether it was written',
  ],
] as const)('a storage that is %s is a 503, and the operator learns why', async (code, error) => {
  const troubles: (() => unknown)[] = []
  const { send, faults } = await createTestCommunity({ storage: troubled('segments', troubles) })
  const trouble = new StorageError(code, 'disk /dev/sda1 of db-7.internal')
  troubles.push(() => trouble)
  const response = await send('tags.create', { body: { title: 'x' } })
  expect({ status: response.status, body: response.body }).toEqual({
    status: 503,
    body: { error, request_id: expect.any(String) },
  })
  expect(response.headers.get('retry-after')).toBe('5')
  expect(faults).toEqual([trouble])
  expect((await send('tags.list')).body.items).toEqual([])
})

test('a direct call throws what the request would have been refused with, and the reason as its cause', async () => {
  const troubles: (() => unknown)[] = []
  const { community } = await createTestCommunity({ storage: troubled('segments', troubles) })
  const trouble = new StorageError('unavailable', 'disk /dev/sda1 of db-7.internal')
  troubles.push(() => trouble)
  const refused = await community.call('tags.create', { network: '1', body: { title: 'x' } }).catch((error: unknown) => error)
  expect(refused).toBeInstanceOf(ApiError)
  expect(refused).toMatchObject({
    status: 503,
    body: { error: 'The storage is busy or cannot be reached; nothing was written. Try again' },
    cause: trouble,
  })
})

test('an outbox that is full takes the rows of the transaction with it', async () => {
  let full = false
  const outbox = {
    async append() {
      if (full) throw new StorageError('full', 'no space left')
    },
    async close() {},
  }
  const { send } = await createTestCommunity({ storage: memoryStorage({ outbox }) })
  full = true
  expect((await send('members.create', { body: member })).status).toBe(503)
  full = false
  expect((await send('members.list')).body.items).toHaveLength(1)
  expect((await send('members.create', { body: member })).status).toBe(201)
})

test.each([
  ['an error', new Error('password=hunter2 in /srv/app/secret.ts')],
  ['an error with a status', Object.assign(new Error('hunter2'), { status: 418, body: { error: 'hunter2' } })],
  ['a damaged file', new StorageError('damaged', 'hunter2')],
  ['a text', 'hunter2'],
  ['nothing', undefined],
])('%s that nobody expected is a 500 with an id and without internals', async (_, thrown) => {
  const troubles: (() => unknown)[] = []
  const { send, faults } = await createTestCommunity({ storage: troubled('segments', troubles) })
  troubles.push(() => thrown)
  const response = await send('tags.create', { body: { title: 'x' } })
  expect({ status: response.status, body: response.body }).toEqual({
    status: 500,
    body: { error: 'Internal server error', request_id: expect.stringMatching(/^[0-9a-f-]{36}$/) },
  })
  expect(JSON.stringify([response.body, ...response.headers])).not.toMatch(/hunter2|secret|\/srv|\.ts/)
  expect(faults).toEqual([thrown])
  expect((await send('tags.list')).body.items).toEqual([])
})

test('a fault while the token is looked up is a 500 or 503 as well, and never lets anybody in', async () => {
  const storage = memoryStorage()
  let down = false
  const wrapped = wrappedStorage(storage, {
    transaction: (work, options) =>
      down ? Promise.reject(new StorageError('unavailable', 'down')) : storage.transaction(work, options),
  })
  const { send } = await createTestCommunity({ storage: wrapped })
  down = true
  expect((await send('tags.list')).status).toBe(503)
  down = false
  expect((await send('tags.list')).status).toBe(200)
})

test('reads are announced as read-only, writes are not', async () => {
  const storage = memoryStorage()
  const seen: (boolean | undefined)[] = []
  const wrapped = wrappedStorage(storage, {
    transaction(work, options) {
      seen.push(options?.readOnly)
      return storage.transaction(work, options)
    },
  })
  const { send } = await createTestCommunity({ storage: wrapped })
  await send('tags.list')
  seen.length = 0
  await send('tags.list')
  expect(seen).toEqual([true])
  seen.length = 0
  await send('tags.create', { body: { title: 'x' } })
  expect(seen).toEqual([false])
})
