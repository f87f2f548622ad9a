import { expect, test } from 'vitest'
import { systemChance } from '../../../lib/base/chance.ts'
import { idGenerator } from '../../../lib/base/ids.ts'
import { fail, notFound } from '../../../lib/errors.ts'
import { defaultTextLimits } from '../../../lib/fields.ts'
import { fromRequest } from '../../../lib/http/exchange.ts'
import { inFlightCounter } from '../../../lib/http/in-flight.ts'
import { server } from '../../../lib/http/serve.ts'
import { pipeline } from '../../../lib/kernel/pipeline.ts'
import { transactionsOf } from '../../../lib/kernel/transactions.ts'
import { apiDocument } from '../../../lib/openapi/document.ts'
import { operation } from '../../../lib/operation.ts'
import { settings as settingsOf } from '../../../lib/options.ts'
import { createTestCommunity } from '../../support/community.ts'
import { at } from '../../support/json-schema.ts'

const inUse = operation({
  id: 'things.list',
  method: 'GET',
  path: '/things',
  scope: 'tags:read',
  summary: 'List things.',
  description: 'Things.',
  handle: async () => {},
})
const deprecated = operation({
  ...inUse,
  id: 'things.show',
  path: '/things/:id',
  summary: 'Show a thing.',
  errors: [notFound('Thing')],
  deprecated: { since: '2027-01-31', sunset: '2027-07-01' },
  handle: async ({ params }) => (params.id === '1' ? undefined : fail(notFound('Thing'))),
})
const withoutSunset = operation({ ...inUse, id: 'things.find', path: '/things/by_name', deprecated: { since: '2027-01-31' } })
const operations = [inUse, deprecated, withoutSunset]

async function asked(path: string, authorised = true) {
  const { storage, clock, token } = await createTestCommunity()
  const settings = settingsOf({ storage, clock }, systemChance)
  const runOperation = pipeline(settings, transactionsOf(settings, idGenerator(clock, systemChance)))
  const counting = { inFlight: inFlightCounter(settings.limits), count: () => undefined }
  const noPreview = () => Promise.reject(new Error('no preview'))
  const { serve } = server(operations, settings, runOperation, new Map(), noPreview, counting)
  const headers = { authorization: `Bearer ${authorised ? token : 'none'}` }
  const response = await serve(fromRequest(new Request(`https://api.test/admin/v1/networks/1${path}`, { headers })))
  return { status: response.status, deprecation: response.headers['deprecation'], sunset: response.headers['sunset'] }
}

test.each([
  [204, '/things/1', true],
  [404, '/things/2', true],
  [401, '/things/1', false],
])('an answer %i of a deprecated operation has the headers Deprecation and Sunset', async (status, path, authorised) => {
  expect(await asked(path, authorised)).toEqual({
    status,
    deprecation: `@${Date.UTC(2027, 0, 31) / 1_000}`,
    sunset: 'Thu, 01 Jul 2027 00:00:00 GMT',
  })
})

test('a deprecated operation without a last day has no Sunset', async () => {
  expect(await asked('/things/by_name')).toEqual({ status: 204, deprecation: '@1801353600', sunset: undefined })
})

test('an operation in use has neither header', async () => {
  expect(await asked('/things')).toEqual({ status: 204, deprecation: undefined, sunset: undefined })
})

test('the OpenAPI document marks deprecated operations and lists their headers', () => {
  const document = apiDocument(operations, { ids: 'string', limits: defaultTextLimits, basePath: '' })
  const published = (path: string) => at(document, 'paths', `/admin/v1/networks/{network_id}${path}`, 'get')
  const headers = (path: string, status: string) => Object.keys(Object(at(published(path), 'responses', status)['headers']))
  expect(['/things', '/things/{id}', '/things/by_name'].map((path) => published(path)['deprecated'])).toEqual([
    undefined,
    true,
    true,
  ])
  expect(headers('/things', '204')).toEqual([])
  expect(headers('/things/{id}', '204')).toEqual(['Deprecation', 'Sunset'])
  expect(headers('/things/{id}', '401')).toEqual(['WWW-Authenticate', 'Deprecation', 'Sunset'])
  expect(headers('/things/by_name', '204')).toEqual(['Deprecation'])
})
