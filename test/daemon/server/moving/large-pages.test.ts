/** `folkmoot pull` and `folkmoot diff` where pages of a list are larger than a client reads. */
import { createServer } from 'node:http'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { toNodeListener } from '../../../../adapters/http/node.ts'
import { memoryStorage } from '../../../../adapters/storage/memory.ts'
import { compareServers } from '../../../../daemon/server/moving/diff/compare-servers.ts'
import { sideOf } from '../../../../daemon/server/moving/diff/compared-server.ts'
import { createCommunity } from '../../../../lib/index.ts'
import { temporaryDirectory } from '../../../support/directory.ts'
import { onLoopback } from '../../../support/on-loopback.ts'
import { testPorts } from '../../../support/ports.ts'
import { folkmoot } from '../../../support/program.ts'
import { createSeededCommunity } from '../../../support/seed.ts'
import { given, jumpingTiming, pullFrom, type Source, seededSource, timeout } from './support.ts'

test('101 comments of 99,990 characters of links are pulled and compared, in pages that fit', async () => {
  const source = await seededSource()
  const text = 'http://a.b '.repeat(9090)
  for (let turn = 0; turn < 101; turn++) {
    const { status } = await source.send('comments.create', { params: { post_id: '401' }, body: { text } })
    expect(status).toBe(201)
  }
  const sizes: (string | null)[] = []
  const target = memoryStorage()
  await pullFrom(source, target, {
    respond: (request) => {
      const { pathname, searchParams } = new URL(request.url)
      if (pathname.endsWith('/posts/401/comments')) sizes.push(searchParams.get('per_page'))
      return source.community.fetch(request)
    },
  })
  expect(sizes).toEqual(['100', '50', '50', '50'])
  expect((await given(target))['comments']).toEqual((await given(source.storage))['comments'])

  const copy = createCommunity({ storage: target, clock: source.clock, ports: testPorts().ports })
  const { token } = await copy.keys.create({ network: '1', name: 'diff', scopes: ['*'], member_id: source.owner.id })
  const side = (name: string, { community, token }: Source) => {
    const base = `https://${name}.test`
    const fetch = (request: Request) => community.fetch(request)
    return sideOf({ name, base, options: { baseUrl: base, network: '1', token, fetch, timing: jumpingTiming(), timeout } })
  }
  const ignore = ['/events', '/members', '/courseworks', '/custom_fields', '/spaces', '/plans']
  const { total, responses } = await compareServers({
    ...{ a: side('a', source), b: side('b', { community: copy, token }), sample: 200, ignore },
  })
  expect(total).toBe(0)
  expect(responses).toBeGreaterThan(100)
})

test('a record that is too large alone ends the command with its place, and with no promise', async () => {
  const source = await createSeededCommunity({ storage: memoryStorage(), allowHttp: true })
  const api = toNodeListener(source.community)
  const url = await onLoopback(
    createServer((request, response) => {
      if (!request.url?.includes('/posts?')) return api(request, response)
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': 2 ** 27 }).end()
    }),
  )
  const from = ['--network', '1', '--token', source.token]
  const target = `sqlite:${join(temporaryDirectory(), 'db.sqlite')}`
  const what = 'GET /admin/v1/networks/1/posts: record 1 of the list, alone on its page, is larger than 67108864 bytes. '
  for (let run = 1; run <= 2; run++)
    expect((await folkmoot('pull', '--from', url, ...from, '--to', target)).refused).toBe(
      `${what}What came so far is in the target. The same command would end there again: shorten that record on the server, or leave its list out with --only`,
    )
  expect((await folkmoot('pull', '--from', url, ...from, '--to', target, '--only', 'tags')).refused).toBe(undefined)
  const sides = ['--a', url, '--a-token', source.token, '--b', url, '--b-token', source.token, '--network', '1']
  expect((await folkmoot('diff', ...sides)).refused).toBe(
    `${what}Leave its list out with --ignore and the path of the list, such as /posts`,
  )
  expect((await folkmoot('diff', ...sides, '--ignore', '/posts')).refused).toBe(undefined)
})

test.each([
  [503, 'What came so far is in the target: the same command goes on from there'],
  [403, 'What came so far is in the target: once this is mended, the same command goes on from there'],
])('a run that a %i has ended says whether the same command goes on', async (status, sentence) => {
  const url = await onLoopback((_, response) => {
    response.writeHead(status, { 'retry-after': '100000' }).end('{"error":"no"}')
  })
  const target = `sqlite:${join(temporaryDirectory(), 'db.sqlite')}`
  const { refused } = await folkmoot('pull', '--from', url, '--network', '1', '--token', 't', '--to', target)
  expect(refused).toContain(sentence)
})
