/** Lists of both programs fit the terminal, and are whole in a pipe. */
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openOutbox } from '../../adapters/outbox/file.ts'
import { deliveries, status } from '../../daemon/relay/operate/commands/inspect.ts'
import { createProgram } from '../../daemon/server/program.ts'
import { widthOf } from '../../daemon/table.ts'
import { begunRelay } from '../support/begun.ts'
import { run } from '../support/command.ts'
import { temporaryDirectory } from '../support/directory.ts'
import { ended } from '../support/program.ts'
import { endpoint, event, until } from './relay/support.ts'

const longName = 'Connector of the members of the community '.repeat(4).trim()

/** Runs a command of `folkmoot` in a terminal. */
async function inTerminal(width: number, ...args: readonly string[]): Promise<readonly string[]> {
  const lines: string[] = []
  const out = { line: (text: string) => void lines.push(...text.split('\n')), warn: () => {}, width }
  const program = createProgram({ out, json: false, failed: () => {}, starting: () => {}, version: '0.0.0' })
  await program.parseAsync(['node', 'folkmoot', ...args])
  return lines
}

/** Runs a program into a pipe. */
async function piped(...args: Parameters<typeof run>): Promise<string> {
  const { ended: end, out } = run(...args)
  expect(await end).toBe(0)
  return out.stdout
}

test('a list of folkmoot fits any terminal, and a pipe gets each row whole', async () => {
  const storage = ['--storage', `sqlite:${join(temporaryDirectory(), 'db.sqlite')}`]
  const owner = ['--owner-email', 'ada@example.org', '--owner-name', 'Ada Ash']
  await ended('folkmoot', 'networks', 'create', '--subdomain', 'one', '--title', '漢字の家', ...owner, ...storage)
  const scopes = ['members:read', 'posts:read', 'events:read', 'plans:read'].flatMap((scope) => ['--scope', scope])
  await ended('folkmoot', 'keys', 'create', '--name', longName, ...scopes, ...storage)
  for (const width of [60, 80, 120, 200])
    for (const command of [
      ['keys', 'list'],
      ['networks', 'list'],
      ['audit', 'list'],
      ['trigger', '--list'],
    ])
      for (const line of await inTerminal(width, ...command, ...storage)) expect(widthOf(line)).toBeLessThanOrEqual(width)
  const stdout = await piped('folkmoot', 'keys', 'list', ...storage)
  expect(stdout.trimEnd().split('\n')).toHaveLength(2)
  for (const part of [longName, 'members:read posts:read events:read plans:read']) expect(stdout).toContain(part)
})

test('lists of folkmoot-relay fit any terminal, name the endpoint, and a pipe gets each row whole', async () => {
  const outbox = temporaryDirectory()
  const writer = await openOutbox({ directory: outbox })
  await writer.append([[endpoint('http://127.0.0.1:40009/hook', { name: longName })], [event('a')]])
  await writer.close()
  const relay = begunRelay('run', '--json', '--outbox', outbox, '--allow-http')
  await until(() => relay.out.stdout.includes('"event_id":"a"'), 'it was tried')
  await relay.stop()
  for (const width of [60, 80, 120, 200])
    for (const list of [status, deliveries])
      for (const line of (await list({ outbox, width })).split('\n')) expect(widthOf(line)).toBeLessThanOrEqual(width)
  const stdout = await piped('folkmoot-relay', 'deliveries', '--outbox', outbox)
  expect(stdout.trimEnd().split('\n')).toHaveLength(2)
  expect(stdout).toContain(longName)
})
