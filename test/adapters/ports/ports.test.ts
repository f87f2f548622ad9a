import { expect, test } from 'vitest'
import { ports } from '../../../adapters/ports/index.ts'
import { memoryStorage } from '../../../adapters/storage/memory.ts'
import { createCommunity } from '../../../lib/index.ts'
import type { Ports } from '../../../lib/ports.ts'

const storage = memoryStorage({ outbox: { append: async () => {}, close: async () => {} } })
const create = (given: unknown) => createCommunity({ storage, ports: given as Ports })

test('ports() fills every door that its options open', () => {
  const assets = { directory: 'files', baseUrl: 'https://cdn.example.org' }
  const download = { allows: () => true, lookup: () => {} }
  expect(Object.keys(ports())).toEqual(['recurrence', 'phoneNumbers', 'fileTypes'])
  expect(Object.keys(ports({ assets, download }))).toEqual(['recurrence', 'phoneNumbers', 'fileTypes', 'assets', 'download'])
  expect(() => create(ports({ assets, download }))).not.toThrow()
})

test('a store of the host takes the place of the directory', () => {
  const assets = { put: async () => 'https://cdn.example.org/x', remove: async () => {} }
  expect(ports({ assets }).assets).toBe(assets)
})

test('an unknown port, and a port without its methods, are named at creation', () => {
  expect(() => create({ mail: {} })).toThrow('option `ports.mail` does not exist; allowed: recurrence, phoneNumbers')
  expect(() => create({ assets: { put: () => {} } })).toThrow('option `ports.assets` must have a method remove')
  expect(() => create({ recurrence: null })).toThrow('option `ports.recurrence` must have a method expand')
})
