import { expect, test } from 'vitest'
import { memoryStorage } from '../../../adapters/storage/memory.ts'
import { createCommunity, type Limits, type Options } from '../../../lib/index.ts'
import { createTestCommunity } from '../../support/community.ts'

const storage = memoryStorage()
/** The refusals of options that a caller without types might give. */
const problemsOf = (options: object): string[] => {
  try {
    createCommunity(options as Options)
    return []
  } catch (error) {
    expect(error).toBeInstanceOf(TypeError)
    return (error as TypeError).message.replace('createCommunity: ', '').split(/; (?=option)/)
  }
}

test('all problems are in one error, each with its option and what to do', () => {
  expect(
    problemsOf({
      basePath: 'community/',
      publicUrl: '/api',
      ids: 'uuid',
      allowHttp: 'yes',
      trustProxy: 0,
      authenticate: 'me',
      permalink: {},
      limits: { titleCharacters: 0, longTextCharacters: 1.5, choices: -1, bodyBytes: Number.NaN, assetBytes: '1 MB' },
      speed: 'fast',
    }),
  ).toEqual([
    expect.stringMatching(/^option `speed` does not exist; allowed: storage, basePath, .*encryptionKeys, tracing$/),
    'option `storage` is required: memoryStorage(), lowdbStorage(…), sqliteStorage(…), postgresStorage(…) or your own',
    'option `basePath` must be \'\' or the path of a URL without a trailing slash, got "community/"',
    'option `publicUrl` must be an address such as https://api.example.org or https://api.example.org/community, without a trailing slash, got "/api"',
    'option `allowHttp` must be true or false, got "yes"',
    'option `trustProxy` must be true or false, or the number of proxies, got 0',
    "option `ids` must be 'string' or 'number', got \"uuid\"",
    'option `limits.titleCharacters` must be a whole number above 0, got 0',
    'option `limits.longTextCharacters` must be a whole number above 0, got 1.5',
    'option `limits.choices` must be a whole number above 0, got -1',
    'option `limits.bodyBytes` must be a whole number above 0, got NaN',
    'option `limits.assetBytes` must be a whole number above 0, got "1 MB"',
    'option `authenticate` must be a function, got "me"',
    'option `permalink` must be a function, got an object',
  ])
})

test('a storage instead of the options is recognised', () => {
  expect(problemsOf(storage)).toEqual(['createCommunity expects options such as { storage }, but got a storage'])
})

test('a limit that is undefined keeps its default', async () => {
  const limits = { bodyBytes: undefined, titleCharacters: undefined } as unknown as Partial<Limits>
  const { send } = await createTestCommunity({ limits })
  expect((await send('tags.create', { body: { title: 'x'.repeat(256) } })).status).toBe(422)
  expect((await send('tags.create', { body: { title: 'x', filler: 'x'.repeat(1024 * 1024) } })).status).toBe(413)
})

test.each([
  [{ hooks: { before: 'x' } }, 'option `hooks.before` must be a function, got "x"'],
  [{ hooks: { befor: () => {} } }, 'option `hooks.befor` does not exist; did you mean before?'],
  [{ rateLimiter: {} }, 'option `rateLimiter` must have a method count, got an object'],
  [
    { limits: { titelCharacters: 5 } },
    'option `limits.titelCharacters` does not exist; did you mean titleCharacters or longTextCharacters?',
  ],
  [
    { limits: { perMinute: { standard: 0, premium: 1, unlimited: null } } },
    'option `limits.perMinute.standard` must be a whole number above 0 or null, got 0',
  ],
  [
    { limits: { perMinute: { standard: 5 } } },
    'option `limits.perMinute.premium` must be a whole number above 0 or null, got undefined',
  ],
  [
    { storage: memoryStorage },
    'option `storage` is required: memoryStorage(), lowdbStorage(…), sqliteStorage(…), postgresStorage(…) or your own, got a function',
  ],
  [{ clock: {} }, 'option `clock` must have a method now, got an object'],
])('%j is a problem', (options, problem) => {
  expect(problemsOf({ storage, ...options })).toContain(problem)
})

test.each(['', '/community', '/a/b', '/%C3%A4'])('basePath %j is fine', (basePath) => {
  expect(problemsOf({ storage, basePath })).toEqual([])
})

test.each(['/', '/a/', 'a', '/a?b', '/a#b', '/ä', '/a b', '/a/../b', '//a'])('basePath %j is a problem', (basePath) => {
  expect(problemsOf({ storage, basePath })).toHaveLength(1)
})

test.each(['https://api.example.org', 'https://api.example.org/x', 'http://localhost:4000/a/b'])(
  'publicUrl %j is fine',
  (publicUrl) => {
    expect(problemsOf({ storage, publicUrl })).toEqual([])
  },
)

test.each([
  'https://api.example.org/',
  'https://api.example.org/x/',
  'https://api.example.org/x?y',
  'https://api.example.org/#x',
  'https://me@api.example.org',
  'https://API.example.org',
  'api.example.org',
  'ftp://x',
  '',
])('publicUrl %j is a problem', (publicUrl) => {
  expect(problemsOf({ storage, publicUrl })).toHaveLength(1)
})

test.each([true, false, 1, 3])('trustProxy %j is fine', (trustProxy) => {
  expect(problemsOf({ storage, trustProxy })).toEqual([])
})

test('options that are undefined count as left out, and the object is not changed', () => {
  const options = Object.freeze({
    storage,
    basePath: undefined,
    publicUrl: undefined,
    hooks: undefined,
    limits: Object.freeze({ bodyBytes: undefined, perMinute: undefined }),
    clock: undefined,
  })
  expect(problemsOf(options)).toEqual([])
})

test('no options at all are one clear problem', () => {
  expect(problemsOf(undefined as unknown as object)).toEqual(['the options must be an object with at least `storage`'])
})

test.each([
  [{ storage: Promise.resolve(storage) }, 'option `storage` got a Promise: await it, as in `storage: await lowdbStorage(…)`'],
  [{ storage, hooks: [] }, 'option `hooks` must be an object, got a list'],
  [{ storage, limits: 5 }, 'option `limits` must be an object, got 5'],
  [{ storage, ports: () => {} }, 'option `ports` must be an object, got a function'],
  [{ storage, limits: { perMinute: null } }, 'option `limits.perMinute` must be an object, got null'],
  [{ storage, newMembersConsent: 'yes' }, 'option `newMembersConsent` must be true or false, got "yes"'],
  [{ storage, keyOfFormerMembers: 'refuse' }, 'option `keyOfFormerMembers` does not exist; did you mean keysOfFormerMembers?'],
  [{ storage, keysOfFormerMembers: 'drop' }, "option `keysOfFormerMembers` must be 'accept' or 'refuse', got \"drop\""],
  [
    { storage, publicUrl: Object.create(null) },
    'option `publicUrl` must be an address such as https://api.example.org or https://api.example.org/community, without a trailing slash, got an object',
  ],
])('%o is a problem that is named', (options, problem) => {
  expect(problemsOf(options)).toContain(problem)
})
