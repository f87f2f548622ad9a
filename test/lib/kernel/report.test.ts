import { execFile } from 'node:child_process'
import { execPath } from 'node:process'
import { promisify } from 'node:util'
import { expect, onTestFinished, test, vi } from 'vitest'
import { memoryStorage } from '../../../adapters/storage/memory.ts'
import type { FaultContext, Hooks, Options } from '../../../lib/index.ts'
import { StorageError } from '../../../lib/storage/contract.ts'
import { apiKeys } from '../../../lib/storage/tables/administration.ts'
import { createTestCommunity } from '../../support/community.ts'
import { wrappedStorage } from '../../support/storage.ts'

const member = { email: 'new@example.org', first_name: 'New', last_name: 'Member', send_welcome_email: false }

/** The output on the console until the test ends. */
function consoleErrors(): unknown[][] {
  const lines: unknown[][] = []
  const spy = vi.spyOn(console, 'error').mockImplementation((...line) => void lines.push(line))
  onTestFinished(() => spy.mockRestore())
  return lines
}

const withHooks = (hooks: Hooks, options: Partial<Options> = {}) => createTestCommunity({ ...options, hooks })

test('without `onError` a fault goes to the console with request, operation and error', async () => {
  const lines = consoleErrors()
  const fault = new Error('before')
  const { send } = await withHooks({
    before() {
      throw fault
    },
  })
  const { status, body } = await send('tags.list')
  expect(status).toBe(500)
  expect(lines).toEqual([[`folkmoot: fault in tags.list, request ${body.request_id}:`, fault]])
})

test('without `onError` the console has what `after` throws, with the event', async () => {
  const lines = consoleErrors()
  const fault = new Error('after')
  const { send, community, events } = await withHooks({ after: () => Promise.reject(fault) })
  expect((await send('members.create', { body: member })).status).toBe(201)
  await community.close()
  expect(lines).toEqual([[`folkmoot: fault in hooks.after, event ${events()[0]?.event_id}:`, fault]])
})

test('`onError` that does nothing silences faults', async () => {
  const lines = consoleErrors()
  const { send } = await withHooks({
    before: () => Promise.reject(new Error('before')),
    onError: () => {},
  })
  expect((await send('tags.list')).status).toBe(500)
  expect(lines).toEqual([])
})

test.each([
  [
    'throws',
    () => {
      throw new Error('onError')
    },
  ],
  ['rejects', () => Promise.reject(new Error('onError'))],
])('an `onError` that %s loses no fault, and the request is answered', async (_, onError) => {
  const lines = consoleErrors()
  const { send, community } = await withHooks({ before: () => Promise.reject(new Error('before')), onError })
  const { status, body } = await send('tags.list')
  await community.close()
  expect(status).toBe(500)
  expect(lines).toEqual([
    [`folkmoot: fault in tags.list, request ${body.request_id}:`, new Error('before')],
    ['folkmoot: fault in hooks.onError:', new Error('onError')],
  ])
})

test('a fault of noting when a key was used names the key, not a request', async () => {
  const faults: FaultContext[] = []
  const trouble = new StorageError('unavailable', 'down')
  const storage = wrappedStorage(memoryStorage(), {
    tx: (tx) => ({
      update: (table, ...rest) => (table.name === apiKeys.name ? Promise.reject(trouble) : tx.update(table, ...rest)),
    }),
  })
  const { send, community } = await withHooks({ onError: (_, about) => void faults.push(about) }, { storage })
  expect((await send('tags.list')).status).toBe(200)
  await community.close()
  expect(faults).toEqual([{ task: expect.stringMatching(/^last use of key \d+$/) }])
})

test('a process without `onError` prints a fault with its stack on standard error', async () => {
  const at = (path: string) => new URL(`../../../${path}`, import.meta.url).href
  const program = `
    import { createCommunity } from '${at('lib/index.ts')}'
    import { memoryStorage } from '${at('adapters/storage/memory.ts')}'
    const community = createCommunity({ storage: memoryStorage(), authenticate() { throw new Error('no directory') } })
    const request = new Request('https://api.test/admin/v1/networks/1/tags', { headers: { authorization: 'Bearer x' } })
    console.log(await (await community.fetch(request)).text())`
  const { stdout, stderr } = await promisify(execFile)(execPath, ['--input-type=module', '--eval', program])
  const { request_id } = JSON.parse(stdout)
  expect(stderr).toContain(`folkmoot: fault in tags.list, request ${request_id}: Error: no directory\n    at `)
})
