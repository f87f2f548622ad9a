import { spawnSync } from 'node:child_process'
import { rmSync, statfsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { openOutbox } from '../../../../adapters/outbox/file.ts'
import { storePath } from '../../../../daemon/relay/open-store.ts'
import { openSqliteStore } from '../../../../daemon/relay/store/sqlite/store.ts'
import { begunRelay } from '../../../support/begun.ts'
import { run } from '../../../support/command.ts'
import { ended } from '../../../support/program.ts'
import { noSmallDisk, smallDisk } from '../../../support/small-disk.ts'
import { endpoint, event } from '../support.ts'

/** One sentence, as `--json` has it. */
const oneError = /^\{"error":"[^\n]+"\}\n$/

const running = (directory: string) => ['run', '--outbox', directory, '--control-port', '0', '--json'] as const

/** The output of a relay that cannot start: one sentence, and exit code 2. */
async function refusal(directory: string): Promise<string> {
  const relay = run('folkmoot-relay', ...running(directory))
  expect(await relay.ended).toBe(2)
  expect(relay.out.stderr).toMatch(oneError)
  return relay.out.stderr
}

function fill(disk: string, leave: number): void {
  rmSync(join(disk, 'ballast'), { force: true })
  const { bavail, bsize } = statfsSync(disk)
  writeFileSync(join(disk, 'ballast'), Buffer.alloc(Math.max(0, bavail * bsize - leave)))
}

test('commands that only read work with a relay whose disk is full', async ({ skip }) => {
  const disk = smallDisk('1m')
  if (!disk) return skip(noSmallDisk)
  const directory = join(disk, 'outbox')
  const outbox = await openOutbox({ directory })
  await outbox.close()
  const store = await openSqliteStore(storePath(directory))
  onTestFinished(() => store.close())
  fill(disk, 0)
  const { code, stdout, stderr } = await ended('folkmoot-relay', 'status', '--json', '--outbox', directory)
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(JSON.parse(stdout)).toMatchObject({ endpoints: [], notices: [] })
  const checked = await ended('folkmoot-relay', 'check', '--json', '--outbox', directory)
  expect({ code: checked.code, found: JSON.parse(checked.stdout) }).toMatchObject({
    code: 1,
    found: { ok: false, problems: [expect.stringContaining(`the disk of ${join(directory, 'relay')} is full`)] },
  })
})

test('commands that only read work with a relay whose disk has become read-only, and change nothing', async ({ skip }) => {
  const disk = smallDisk('4m')
  if (!disk) return skip(noSmallDisk)
  const directory = join(disk, 'outbox')
  const outbox = await openOutbox({ directory })
  await outbox.close()
  const store = await openSqliteStore(storePath(directory))
  const commits = [[endpoint('http://127.0.0.1:9/hook', { name: 'CRM' })]]
  await store.ingest({ commits, positions: {}, damage: [], more: false }, Date.now(), 0)
  await store.close()
  // A disk with open files is made read-only by its faults alone.
  expect(spawnSync('mount', ['-o', 'remount,ro', disk]).status).toBe(0)
  const looked = await ended('folkmoot-relay', 'status', '--json', '--outbox', directory)
  expect(looked).toMatchObject({ code: 0, stderr: '' })
  expect(JSON.parse(looked.stdout)).toMatchObject({ endpoints: [{ endpoint_id: '7', name: 'CRM' }] })
  expect(await ended('folkmoot-relay', 'dead', '--outbox', directory)).toMatchObject({
    code: 0,
    stdout: 'No delivery is dead.\n',
  })
  expect(await ended('folkmoot-relay', 'close-circuit', '--endpoint-id', '7', '--outbox', directory)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('EROFS: read-only file system'),
  })
  const checked = await ended('folkmoot-relay', 'check', '--json', '--allow-http', '--allow-private', '--outbox', directory)
  expect(checked.code).toBe(1)
  expect(JSON.parse(checked.stdout)).toMatchObject({
    problems: [
      `the file system of the outbox at ${directory} is read-only: look for its faults in the log of the system, and mount it for writing`,
    ],
  })
})

test.for(['for the first time', 'again'])(
  'a relay that starts %s on a full disk ends with one sentence',
  async (when, { skip }) => {
    const disk = smallDisk('1m')
    if (!disk) return skip(noSmallDisk)
    const directory = join(disk, 'outbox')
    const outbox = await openOutbox({ directory })
    await outbox.append([[event('a')]])
    await outbox.close()
    if (when === 'again') await (await openSqliteStore(storePath(directory))).close()
    // Some pages, none, and a few in between: it gets farther each time.
    for (const leave of [0, 4096, 12_288, 49_152]) {
      fill(disk, leave)
      const relay = begunRelay(...running(directory))
      const started = relay.written('relay.started').then(
        () => true,
        () => false,
      )
      if (await started) void relay.stop()
      const code = await relay.ended
      if (leave === 0) expect(await started).toBe(false)
      if (await started) expect(code).toBe(0)
      else {
        // Not 2, after which systemd would not start it again when there is space.
        expect({ code, stderr: relay.out.stderr }).toEqual({
          code: 1,
          stderr: expect.stringMatching(oneError),
        })
      }
    }
  },
)

test('a relay that may not write ends with one sentence', async ({ skip }) => {
  const disk = smallDisk('2m')
  if (!disk) return skip(noSmallDisk)
  const directory = join(disk, 'outbox')
  const outbox = await openOutbox({ directory })
  await outbox.append([[event('a')]])
  await outbox.close()
  await (await openSqliteStore(storePath(directory))).close()
  expect(spawnSync('mount', ['-o', 'remount,ro', disk]).status).toBe(0)
  expect(await refusal(directory)).toMatch(/read-only|EROFS|readonly/)
})
