/** The responses of the shared store to its relay, when others or the database get in between. */
import { expect, onTestFinished, test } from 'vitest'
import { systemClock } from '../../../../daemon/relay/clock.ts'
import { openOperatorStore } from '../../../../daemon/relay/open-store.ts'
import { openDatabase } from '../../../../daemon/relay/store/postgres/database.ts'
import { patienceOf } from '../../../../daemon/relay/store/postgres/lease-time.ts'
import { openPostgresStore } from '../../../../daemon/relay/store/postgres/store.ts'
import type { Recovered, RelayStore, StoreChanges } from '../../../../daemon/relay/store/store.ts'
import { testPostgres } from '../../../support/postgres.ts'
import { endpoint, event, events, pass, until } from '../support.ts'
import { cluster, clusterServer, times } from './support.ts'

const postgres = await testPostgres()
const server = await clusterServer(postgres)
const blocker = await postgres.client()

/** A relay's store, and which endpoints its relay believes to have after all that it was told. */
async function member(schema: string) {
  let ahead = 0
  const { store, intake } = await openPostgresStore({
    url: server.url,
    schema,
    clock: { ...systemClock, monotonic: () => systemClock.monotonic() + ahead },
    lease: () => 3_600_000,
  })
  onTestFinished(() => store.close().catch(() => undefined))
  const believes = new Set<number>()
  const hear = (news: StoreChanges | Recovered | undefined) => {
    if (!news) return
    const gained = 'gained' in news ? news.gained : news.endpoints
    for (const each of gained) believes.add(each.endpoint.ref)
    if ('gone' in news) for (const ref of news.gone) believes.delete(ref)
  }
  hear(await store.recover(Date.now()))
  return {
    store,
    intake,
    believes,
    hear,
    /** Looks after so long that endpoints may be claimed. */
    async look() {
      ahead += 1000
      hear(await store.poll())
    },
    async takeAll() {
      while ((await intake.next(Date.now, 0)).ingested) {}
    },
  }
}

test('a store that is closed as soon as it is open lets go of everything', async () => {
  const group = await cluster(server)
  const { store } = await openPostgresStore({ url: server.url, schema: group.schema, clock: systemClock, lease: () => 1000 })
  await store.close()
  await expect(store.counts()).rejects.toThrow()
})

/** A relay's connections to a database with this setting for everybody. */
async function relayWhere(setting: string, value: string) {
  const { schema } = await cluster(server)
  const { rows } = await blocker.query('SELECT current_database() AS name')
  await blocker.query(`ALTER DATABASE ${rows[0].name} SET ${setting} = '${value}'`)
  onTestFinished(async () => void (await blocker.query(`ALTER DATABASE ${rows[0].name} RESET ${setting}`)))
  const relay = await openDatabase({ url: server.url, schema })
  onTestFinished(() => relay.close())
  return relay
}

test('PostgreSQL compiles no plan of a relay', async () => {
  const relay = await relayWhere('jit', 'on')
  expect(await relay.rows('SHOW jit')).toEqual([{ jit: 'off' }])
})

test('a relay sends lists with nulls, whatever the default of the database', async () => {
  const relay = await relayWhere('array_nulls', 'off')
  expect(await relay.rows(`SELECT ('{NULL}'::bigint[])[1] AS first`)).toEqual([{ first: null }])
})

test('a statement of a relay sees what it has waited for, whatever the default of the database', async () => {
  const relay = await relayWhere('default_transaction_isolation', 'serializable')
  const show = 'SHOW transaction_isolation'
  const readCommitted = [{ transaction_isolation: 'read committed' }]
  expect(await relay.rows(show)).toEqual(readCommitted)
  expect(await relay.session(({ rows }) => rows(show))).toEqual(readCommitted)
})

test('PostgreSQL lets a transaction of a relay stand still for half its lease, and for ten seconds at most', async () => {
  const { schema } = await cluster(server)
  let lease = 3_600_000
  const relay = await openDatabase({ url: server.url, schema, patience: () => patienceOf(lease) })
  onTestFinished(() => relay.close())
  const show = async () => (await relay.rows('SHOW idle_in_transaction_session_timeout')).flatMap((row) => Object.values(row))
  expect(await show()).toEqual(['10s'])
  // A new connection has what holds then.
  lease = 4000
  await relay.session(async () => expect(await show()).toEqual(['2s']))
  const command = await openDatabase({ url: server.url, schema })
  onTestFinished(() => command.close())
  expect(await command.rows('SHOW idle_in_transaction_session_timeout')).toEqual([{ idle_in_transaction_session_timeout: '2s' }])
})

test('the backlog of a table is counted in commits', async () => {
  const group = await cluster(server)
  await group.append(endpoint('http://127.0.0.1:1/0'), ...events('e', 2))
  const { intake, takeAll } = await member(group.schema)
  expect(await intake.backlog()).toEqual({ unit: 'commits', count: 3 })
  await takeAll()
  expect(await intake.backlog()).toEqual({ unit: 'commits', count: 0 })
})

test('an event after a change of its endpoint is not given to be sent before that change', async () => {
  const group = await cluster(server)
  const change = (key: string) => group.append(endpoint('http://127.0.0.1:1/0', { key }))
  await change('first')
  const relay = await member(group.schema)
  await relay.takeAll()
  await relay.look()
  const next = async () => {
    const { ingested } = await relay.intake.next(Date.now, 0)
    return [...(ingested?.deliveries.keys() ?? [])]
  }

  await change('second')
  await group.append(event('a'))
  expect(await next()).toEqual([])
  expect(await relay.store.poll()).toMatchObject({ changed: [{ key: 'second' }] })

  await change('third')
  expect(await next()).toEqual([])
  await group.append(event('b'))
  expect(await next()).toEqual([])
  expect(await relay.store.poll()).toMatchObject({ changed: [{ key: 'third' }] })

  await group.append(event('c'))
  expect(await next()).toEqual([...relay.believes])
})

const owned = async (group: Awaited<ReturnType<typeof cluster>>, store: RelayStore): Promise<ReadonlySet<number>> => {
  const rows = await group.query('SELECT endpoint::int AS ref FROM $relay.leases WHERE relay = $1', [store.lease])
  return new Set(rows.map(({ ref }) => Number(ref)))
}

/** Lets claims of endpoints wait from now on, as a slow disk or a lock would, until they are released. */
async function holdClaims(group: Awaited<ReturnType<typeof cluster>>) {
  await blocker.query('SELECT pg_advisory_lock(1)')
  await group.query(`CREATE FUNCTION $relay.wait() RETURNS trigger LANGUAGE plpgsql AS
    'BEGIN PERFORM pg_advisory_xact_lock(1); RETURN NEW; END'`)
  await group.query(`CREATE TRIGGER wait BEFORE UPDATE ON $relay.leases FOR EACH ROW
    WHEN (OLD.relay IS NULL AND NEW.relay IS NOT NULL) EXECUTE FUNCTION $relay.wait()`)
  return {
    waits: () =>
      until(async () => {
        const [row] = await group.query(`SELECT count(*)::int AS n FROM pg_locks WHERE locktype = 'advisory' AND NOT granted`)
        return Number(row?.['n']) > 0
      }, 'a claim waits'),
    goOn: () => blocker.query('SELECT pg_advisory_unlock(1)'),
  }
}

/** A relay that has three endpoints to itself. */
async function ownerOfThree() {
  const group = await cluster(server)
  await group.append(...times(3).map((n) => endpoint(`http://127.0.0.1:1/${n}`, { id: `${n}` })))
  const relay = await member(group.schema)
  await relay.takeAll()
  await relay.look()
  expect(relay.believes.size).toBe(3)
  return { group, relay }
}

test('an endpoint that is given away while others are being claimed is not believed to be gained', async () => {
  const { group, relay } = await ownerOfThree()
  const [given = 0] = relay.believes

  const claims = await holdClaims(group)
  await group.append(endpoint('http://127.0.0.1:1/3', { id: '3' }))
  await relay.takeAll()
  const looking = relay.look()
  await claims.waits()
  relay.believes.delete(given)
  const releasing = relay.store.release([given])
  // It may wait for the claim, or come in between.
  await Promise.race([releasing, pass(300)])
  await claims.goOn()
  await Promise.all([looking, releasing])
  expect(relay.believes).toEqual(await owned(group, relay.store))
  await relay.look()
  expect(relay.believes).toEqual(await owned(group, relay.store))
  expect(relay.believes.size).toBe(4)
})

test('leases reaped by a check that fails are reported by the next one', async () => {
  const { group, relay } = await ownerOfThree()

  await group.query(`CREATE FUNCTION $relay.fail() RETURNS trigger LANGUAGE plpgsql AS
    'BEGIN RAISE EXCEPTION USING ERRCODE = ''53100''; END'`)
  await group.query('CREATE TRIGGER fail BEFORE DELETE ON $relay.leases FOR EACH ROW EXECUTE FUNCTION $relay.fail()')
  await group.append({ kind: 'endpoint', action: 'remove', id: '0', network_id: '1' })
  await group.append(endpoint('http://127.0.0.1:1/3', { id: '3' }))
  await relay.takeAll()
  await expect(relay.look()).rejects.toThrow()
  await group.query('DROP TRIGGER fail ON $relay.leases')
  await relay.look()
  await relay.look()
  const names = async (refs: ReadonlySet<number>) =>
    (await group.query('SELECT id FROM $relay.endpoints WHERE ref = ANY($1) ORDER BY id', [[...refs]])).map(({ id }) => id)
  expect(await names(relay.believes)).toEqual(['1', '2', '3'])
  expect(await names(await owned(group, relay.store))).toEqual(['1', '2', '3'])
})

test('a relay that begins a new lease ends its old one, and its endpoints don’t wait', async () => {
  const { group, relay } = await ownerOfThree()
  relay.believes.clear()
  relay.hear(await relay.store.recover(Date.now()))
  expect(relay.believes.size).toBe(3)
  expect(await group.query('SELECT id FROM $relay.relays')).toEqual([{ id: relay.store.lease }])
})

test('a relay learns what another one has ingested, an event for its endpoints as well as a new endpoint', async () => {
  const group = await cluster(server)
  await group.append(endpoint('http://127.0.0.1:1/0', { id: '0' }))
  const holder = await member(group.schema)
  const other = await member(group.schema)
  await holder.takeAll()
  for (const each of [holder, other]) await each.look()
  const [has, hasNot] = holder.believes.size === 1 ? [holder, other] : [other, holder]
  const [ref = 0] = has.believes
  await group.append(event('a'))
  await hasNot.takeAll()
  expect(await has.store.poll()).toMatchObject({ touched: [ref], changed: [] })
  expect((await hasNot.store.poll())?.touched ?? []).toEqual([])
  await group.append(endpoint('http://127.0.0.1:1/changed', { id: '0' }))
  await hasNot.takeAll()
  expect(await has.store.poll()).toMatchObject({ changed: [{ ref, url: 'http://127.0.0.1:1/changed' }] })
})

test.each(['none', 'subject'] as const)('a tick does not read what else waits, order: %s', async (order) => {
  const group = await cluster(server)
  const [waiting, ticks, each] = [3000, 20, 10]
  const subjects = events('e', waiting).map((one, place) => ({ ...one, subject: `s${place}` }))
  await group.append(endpoint('http://127.0.0.1:1/0', { order }))
  await group.appendTogether(subjects)
  const { store, takeAll, look } = await member(group.schema)
  await takeAll()
  await look()
  const [ref = 0] = await owned(group, store)
  while ((await store.arrange([ref], new Set())).length > 0) {}
  const found = (await store.peek([ref], 'first', waiting)).get(ref) ?? []
  expect(found).toHaveLength(waiting)

  for (let tick = 0; tick < ticks; tick++) {
    const some = found.slice(tick * each, (tick + 1) * each).map(({ delivery }) => delivery)
    const result = { state: 'delivered', due: 0, attempts: 1, at: 0, milliseconds: 1, status: 204, outcome: 'delivered' } as const
    const results = some.map((delivery) => ({ ...result, delivery, answer: null, answer_headers: null, reason: null }))
    const ordered = order === 'subject' ? some : []
    const rest = { states: new Map(), disable: new Map(), notices: [], ordered }
    await store.commit({ ...rest, results, inFlight: new Set(some) }, Date.now())
  }
  // Its connections tell how much they have read when they end.
  await store.close()
  const read = async () => {
    const [row] = await group.query(`SELECT n_tup_upd::int AS recorded, idx_tup_read::int AS read FROM pg_stat_user_tables t
      JOIN pg_stat_user_indexes i USING (relid) WHERE t.relid = '$relay.deliveries'::regclass AND indexrelname = 'deliveries_waiting'`)
    return row
  }
  await until(async () => Number((await read())?.['recorded']) >= ticks * each, 'the reads are counted')
  // A few times to put all of it in order and to read it; once more for each tick would be many.
  expect(Number((await read())?.['read'])).toBeLessThanOrEqual(4 * waiting)
  expect(await group.pending()).toBe(waiting - ticks * each)
})

test('what is skipped while its subject is being put in order lets the next one go', async () => {
  const group = await cluster(server)
  await group.append(
    endpoint('http://127.0.0.1:1/0', { id: '0', order: 'subject' }),
    ...events('e', 2).map((each) => ({ ...each, subject: 'a' })),
  )
  const { store, takeAll } = await member(group.schema)
  await takeAll()
  await store.recover(Date.now())
  const [known] = await store.endpoints()
  if (!known) throw new Error('the endpoint is missing')
  const { ref } = known.endpoint
  const operator = await openOperatorStore(group.address)
  onTestFinished(() => operator.close())
  const [, second] = (await group.query('SELECT id::int FROM $relay.deliveries ORDER BY event')).map(({ id }) => Number(id))

  // As the relay does it: the first one holds the second one up.
  const own = (sql: string) => blocker.query(sql.replaceAll('$relay', `"${group.schema}_relay"`))
  await own('BEGIN')
  await own('SELECT id FROM $relay.relays FOR UPDATE')
  await own(`UPDATE $relay.deliveries SET lane = 2 WHERE id = ${second}`)
  const skipped = operator.skip(known.endpoint, { event_id: 'e0' }, 10, Date.now())
  // It may wait for the relay, or come in between.
  await Promise.race([skipped, pass(300)])
  await own('COMMIT')
  expect(await skipped).toBe(1)
  await store.arrange([ref], new Set())
  expect((await store.peek([ref], 'first', 10)).get(ref)).toMatchObject([{ delivery: second }])
})

test('whatever waits is put in order in parts, so that no statement takes longer with it', async () => {
  const group = await cluster(server)
  await group.append(endpoint('http://127.0.0.1:1/0', { id: '0', order: 'subject' }))
  const { store, takeAll } = await member(group.schema)
  await takeAll()
  await store.recover(Date.now())
  const [known] = await store.endpoints()
  if (!known) throw new Error('the endpoint is missing')
  const { endpoint: defined } = known
  await group.query(
    `WITH recorded AS (
       INSERT INTO $relay.events (event_id, network_id, event_type, event_timestamp, received_at, body, subject)
       SELECT 'e' || n, '1', 'PostCreatedHook', '', 0, '{}', CASE WHEN n % 50 = 0 THEN 's' || n % 400 ELSE 'bad' END
       FROM generate_series(1, 5000) AS n RETURNING seq)
     INSERT INTO $relay.deliveries (event, endpoint, state, lane, due) SELECT seq, $1, 'pending', 0, 1 FROM recorded ORDER BY seq`,
    [defined.ref],
  )
  await group.query('ANALYZE $relay.deliveries')
  const lanes = async () =>
    (await group.query('SELECT lane, count(*)::int AS n FROM $relay.deliveries GROUP BY lane ORDER BY lane')).map(
      ({ lane, n }) => [lane, n],
    )
  /** How many parts it takes. */
  const arrange = async (order: 'subject' | 'fifo'): Promise<number> => {
    const changed = { ...defined, order }
    for (let parts = 1; ; parts++) if ((await store.arrangeAll([changed], new Set())).length === 0) return parts
  }
  // Naming them takes five parts, and sorting them five.
  expect(await arrange('subject')).toBeGreaterThanOrEqual(10)
  expect(await lanes()).toEqual([
    [0, 9],
    [2, 4991],
  ])
  // A subject that continues in the next part has no second first one.
  expect(await arrange('subject')).toBeGreaterThanOrEqual(5)
  expect(await lanes()).toEqual([
    [0, 9],
    [2, 4991],
  ])
  expect(await arrange('fifo')).toBeGreaterThanOrEqual(5)
  expect(await lanes()).toEqual([[0, 5000]])
})

test('what comes after an endpoint was disabled is not read for it, though its relay has not heard of that', async () => {
  const group = await cluster(server)
  await group.append(endpoint('http://127.0.0.1:1/0', { id: '0' }))
  const holder = await member(group.schema)
  const other = await member(group.schema)
  await holder.takeAll()
  const [known] = await holder.store.endpoints()
  if (!known) throw new Error('the endpoint is missing')
  const { ref } = known.endpoint
  const read = async () => {
    const { store } = holder
    const now = Number.MAX_SAFE_INTEGER
    const rows = (await store.peek([ref], 'first', 10)).get(ref) ?? []
    const single = await Promise.all([store.oldestDue(ref, now, null), store.newestDue(ref, now, null), store.head(ref)])
    return rows.length + single.filter((one) => one !== undefined).length
  }
  await group.append(endpoint('http://127.0.0.1:1/0', { id: '0', enabled: false }), event('a'))
  await other.takeAll()
  expect(await holder.store.counts()).toMatchObject({ pending: 1 })
  expect(await read()).toBe(0)
  await group.append(endpoint('http://127.0.0.1:1/0', { id: '0' }))
  await other.takeAll()
  expect(await read()).toBe(4)
})
