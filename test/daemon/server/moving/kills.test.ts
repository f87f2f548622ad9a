/** `folkmoot pull` as a process that is killed at random, at a server with faults. */
import { watch } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { sqliteStorage } from '../../../../adapters/storage/sqlite.ts'
import { createCommunity } from '../../../../lib/index.ts'
import type { Storage } from '../../../../lib/storage/contract.ts'
import { scoped } from '../../../../lib/storage/scoped.ts'
import { members } from '../../../../lib/storage/tables/members.ts'
import { type Begun, begun } from '../../../support/begun.ts'
import { type Command, run } from '../../../support/command.ts'
import { createTestCommunity } from '../../../support/community.ts'
import { temporaryDirectory } from '../../../support/directory.ts'
import { ended } from '../../../support/program.ts'
import { rounds, soaking } from '../../../support/rounds.ts'

/** A client waits a second for each fault: in `npm test` there are fewer. */
const kinds = soaking ? ['429:0.1', '503:0.05', 'drop:0.02'] : ['429:0.03', '503:0.02', 'drop:0.02']
const faults = [...kinds.flatMap((kind) => ['--fault', kind]), '--seed', '7']

/** A server over a storage; its address. */
async function serve(storage: string, ...more: readonly string[]): Promise<{ url: string; server: Begun }> {
  const server = begun('serve', '--storage', storage, '--allow-http', '--json', '--port', '0', ...more)
  return { url: JSON.parse(await server.firstLine()).url, server }
}

/** A storage in a file, made and closed. */
async function madeAt<T>(path: string, make: (storage: Storage) => Promise<T>): Promise<T> {
  const storage = await sqliteStorage({ path })
  try {
    return await make(storage)
  } finally {
    await storage.close()
  }
}

/** Kills a program after so many changes of a file that it writes. @returns its exit code, null if it was killed in time */
async function killed({ child, ended }: Command, file: string, changes: number): Promise<number | null> {
  let left = changes
  const watcher = watch(dirname(file), (_, name) => {
    if (file.endsWith(String(name)) && --left === 0) child.kill('SIGKILL')
  })
  try {
    return await ended
  } finally {
    watcher.close()
  }
}

/** The soak waits for a thousand faults, a second each. */
const timeout = soaking ? 20 * 60_000 : 120_000

const chance = (most: number): number => 1 + Math.floor(Math.random() * most)

const [posts, count] = soaking ? [30, 10_000] : [10, 500]

test('a pull that is killed at random, at a server with faults, makes a copy without a difference', { timeout }, async () => {
  const directory = temporaryDirectory()
  const [from, to] = [join(directory, 'from.sqlite'), join(directory, 'to.sqlite')]
  const token = await madeAt(from, async (storage) => {
    const { token: made, clock, send } = await createTestCommunity({ storage })
    const space = (await send('spaces.create', { body: { name: 'Garden' } })).body
    for (let number = 1; number <= posts; number++) {
      const post = (await send('posts.create', { body: { space_id: space.id, title: `Post ${number}` } })).body
      await send('comments.create', { params: { post_id: post.id }, body: { text: 'Good.' } })
      await send('post_reactions.create', { params: { post_id: post.id }, body: { emoji: '🌱' } })
    }
    const at = new Date(clock.now()).toISOString()
    await storage.transaction(async (tx) => {
      const here = scoped(tx, '1')
      for (let number = 1; number <= count; number++) {
        const email = `member${number}@example.org`
        const names = { first_name: `Member ${number}`, last_name: 'Of many', commercial_email_consent: true }
        const id = String(10_000 + number)
        await here.insert(members, { id, created_at: at, updated_at: at, email, email_key: email, ...names })
      }
    })
    return made
  })
  const faulty = await serve(`sqlite:${from}`, ...faults)
  const pull = ['pull', '--from', faulty.url, '--network', '1', '--token', token, '--to', `sqlite:${to}`, '--json'] as const
  let kills = 0
  for (let round = 0; round < rounds(1, 4); round++)
    if ((await killed(run('folkmoot', ...pull), `${to}-wal`, chance(soaking ? 100 : 10))) === null) kills++
  expect(kills).toBeGreaterThan(0)
  const last = await ended('folkmoot', ...pull)
  expect([last.code, last.stderr.includes('folkmoot:')]).toEqual([0, false])
  await faulty.server.stop()

  const source = await serve(`sqlite:${from}`)
  const copyToken = await madeAt(to, async (storage) => {
    const key = { network: '1', name: 'diff', scopes: ['*'], member_id: await hostOf(storage) }
    return (await createCommunity({ storage }).keys.create(key)).token
  })
  const copy = await serve(`sqlite:${to}`)
  const sides = ['--a', source.url, '--a-token', token, '--b', copy.url, '--b-token', copyToken, '--network', '1']
  const diff = await ended('folkmoot', 'diff', ...sides, ...(soaking ? ['--all'] : ['--sample', '5']))
  expect([diff.code, diff.stdout]).toEqual([0, expect.stringMatching(/^No difference in \d+ responses\.\n$/)])
})

const hostOf = (storage: Storage): Promise<string> =>
  storage.transaction(async (tx) => (await tx.find(members, { where: { role: 'host' } }))[0]?.id ?? '')
