/** A preview changes no byte of the storage, and names exactly the rows and events that the act then makes. */
import { expect, test } from 'vitest'
import type { Community, Preview } from '../../lib/index.ts'
import { wants } from '../../lib/outbox/wanted.ts'
import type { Storage } from '../../lib/storage/contract.ts'
import type { Table } from '../../lib/storage/table.ts'
import { webhookEndpoints } from '../../lib/storage/tables/administration.ts'
import { tables } from '../../lib/storage/tables.ts'
import type { TestCommunity } from '../support/community.ts'
import { createSeededCommunity, seeded } from '../support/seed.ts'
import { exampleOf, routesWhere } from './support.ts'

type Dump = ReadonlyMap<string, ReadonlyMap<string, string>>

/** Every row of every table, as text, by table and id. */
const dumpOf = (storage: Storage): Promise<Dump> =>
  storage.transaction(
    async (tx) => {
      const dump = new Map<string, ReadonlyMap<string, string>>()
      for (const table of tables as readonly Table[])
        dump.set(table.name, new Map((await tx.find(table, {})).map((row) => [row.id, JSON.stringify(row)])))
      return dump
    },
    { readOnly: true },
  )

/** What has become of the rows of each table. */
function differences(before: Dump, after: Dump) {
  const entries = [...after].map(([table, rows]) => {
    const old = before.get(table) ?? new Map<string, string>()
    const ids = [...rows.keys()]
    return [
      table,
      {
        inserted: ids.filter((id) => !old.has(id)).length,
        changed: ids.filter((id) => old.has(id) && old.get(id) !== rows.get(id)).length,
        removed: [...old.keys()].filter((id) => !rows.has(id)).length,
      },
    ] as const
  })
  return Object.fromEntries(entries.filter(([, counts]) => Object.values(counts).some((count) => count > 0)))
}

/** What has come to the outbox, as a preview names it. */
async function happened({ records, storage }: TestCommunity, since: number) {
  const events = records.slice(since).filter((record) => record.kind === 'event')
  const endpoints = await storage.transaction((tx) => tx.find(webhookEndpoints, {}), { readOnly: true })
  const deliveries = endpoints.map((endpoint) => ({
    endpoint_id: endpoint.id,
    events: events.filter((event) => wants(endpoint, event)).length,
  }))
  const types = Map.groupBy(events, ({ event_type }) => event_type)
  return {
    events: Object.fromEntries([...types].map(([type, some]) => [type, some.length])),
    deliveries: deliveries.filter(({ events }) => events > 0),
  }
}

async function setUp() {
  const told: unknown[] = []
  const asked: boolean[] = []
  const t = await createSeededCommunity({
    hooks: { before: ({ isPreview }) => void asked.push(isPreview), after: (event) => void told.push(event) },
  })
  const endpoint = { network_id: '1', key: true } as const
  await t.community.endpoints.upsert({ ...endpoint, url: 'https://one.example/hook' })
  await t.community.endpoints.upsert({
    ...{ ...endpoint, url: 'https://two.example/hook', events: ['MemberUpdated', 'MemberLeft', 'PostCreated', 'CommentCreated'] },
    filter: {
      any: [
        { path: '/id', equals: seeded.member },
        { path: '/space_id', equals: seeded.space },
      ],
    },
  })
  await t.community.endpoints.upsert({ ...endpoint, url: 'https://host.example/hook', audience: 'host' })
  return { ...t, told, asked }
}

type AnyPreview = (id: string, input: object) => Promise<Preview>
type AnyCall = (id: string, input: object) => Promise<unknown>
const previewOf = ({ preview }: Community): AnyPreview => preview as unknown as AnyPreview
const callOf = ({ call }: Community): AnyCall => call as unknown as AnyCall

const inputOf = (id: string) => {
  const { params, query, body } = exampleOf(id)
  return { network: '1', params, query, ...(body ? { body } : {}) }
}

const writing = routesWhere(({ route }) => route.method !== 'GET' && route.operation.prepare === undefined)

test.each(writing)('a preview of %s changes nothing, and names what the act then changes', async (id) => {
  const t = await setUp()
  const [before, records] = [await dumpOf(t.storage), t.records.length]
  const preview = await previewOf(t.community)(id, inputOf(id))
  expect(await previewOf(t.community)(id, inputOf(id))).toEqual(preview)
  expect(await dumpOf(t.storage)).toEqual(before)
  expect(t.records.length).toBe(records)
  expect(t.asked).toEqual([true, true])

  await callOf(t.community)(id, { ...inputOf(id), if: preview.token })
  expect(preview.rows).toEqual(differences(before, await dumpOf(t.storage)))
  const { events, deliveries } = await happened(t, records)
  expect(preview.events).toEqual(events)
  expect(preview.deliveries).toEqual(deliveries)
  // Of the act alone: the events of the preview are gone.
  expect(t.told.length).toBe(Object.values(events).reduce((sum, count) => sum + count, 0))
  expect(t.asked).toEqual([true, true, false])
  expect(t.faults).toEqual([])
})

test('an operation that stores a file, or that only reads, has no preview', async () => {
  const t = await setUp()
  const preview = previewOf(t.community)
  await expect(preview('assets.create', inputOf('assets.create'))).rejects.toMatchObject({ status: 422 })
  await expect(callOf(t.community)('assets.create', { ...inputOf('assets.create'), if: 'a' })).rejects.toMatchObject({
    status: 422,
  })
  await expect(preview('members.list', { network: '1' })).rejects.toMatchObject({ status: 422 })
  await expect(preview('members.lits', { network: '1' })).rejects.toThrow(TypeError)
})
