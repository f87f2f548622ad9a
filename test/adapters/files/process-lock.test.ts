import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import promises from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { pid, platform, ppid } from 'node:process'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { claimFile } from '../../../adapters/files/lock-file.ts'
import { thisProcess } from '../../../adapters/files/owner.ts'
import { acquireLock, lockOwner } from '../../../adapters/files/process-lock.ts'
import { temporaryDirectory } from '../../support/directory.ts'
import { startChild } from '../child.ts'

const patience = { timeout: 120_000 }
const path = () => join(temporaryDirectory(), 'db.json')

/** A lock file as a process other than us would have left it. */
function leave(file: string, owner: object) {
  writeFileSync(`${file}.lock`, JSON.stringify({ ...thisProcess(), purpose: 'an older one', socket: null, ...owner }))
}

const canUnshare = platform === 'linux' && spawnSync('unshare', ['--pid', '--net', '--fork', 'true']).status === 0

describe('a process lock', () => {
  test('is held once, and by the next one after its release', async () => {
    const file = path()
    const first = await acquireLock(file, 'first')
    await expect(acquireLock(file, 'second')).rejects.toMatchObject({
      code: 'locked',
      message: `${file} is held by this process (first)`,
    })
    expect(await lockOwner(file)).toMatchObject({ pid, purpose: 'first' })
    await first.release()
    await first.release()
    expect(await lockOwner(file)).toBeUndefined()
    const third = await acquireLock(file, 'third')
    await third.release()
    expect(readdirSync(join(file, '..'))).toEqual([])
  })

  test('is the same by whatever way a path is reached', async () => {
    const file = path()
    writeFileSync(file, '{}')
    const link = join(temporaryDirectory(), 'link.json')
    symlinkSync(file, link)
    const lock = await acquireLock(link, 'by link')
    expect(lock.path).toBe(file)
    await expect(acquireLock(join(file, '..', '.', 'db.json'), 'direct')).rejects.toMatchObject({ code: 'locked' })
    await lock.release()
  })

  test('is free without the start of its process, if another one has its number and no one listens', async () => {
    const file = path()
    const socket = 'db.json.lock.0123abcd.sock'
    const elsewhere = { pid: ppid, started: null, boot: null, namespace: null }
    leave(file, { ...elsewhere, socket })
    const server = createServer().listen(join(file, '..', socket))
    await once(server, 'listening')
    await expect(acquireLock(file, 'ours')).rejects.toThrow(`held by process ${ppid} (an older one)`)
    server.close()
    await once(server, 'close')
    await (await acquireLock(file, 'ours')).release()
    leave(file, elsewhere)
    await expect(acquireLock(file, 'ours')).rejects.toMatchObject({ code: 'locked' })
  })

  test('of another process is refused with its number, and free after kill -9', patience, async () => {
    const file = path()
    const child = startChild('acquire-lock', [file])
    expect(await child.lines(1)).toEqual(['held'])
    await expect(acquireLock(file, 'ours')).rejects.toThrow(`held by process ${child.pid} (a test)`)
    expect(await lockOwner(file)).toMatchObject({ pid: child.pid, purpose: 'a test' })
    await child.kill()
    expect(await lockOwner(file)).toBeUndefined()
    const lock = await acquireLock(file, 'ours')
    await lock.release()
    expect(readdirSync(join(file, '..'))).toEqual([])
  })

  test('does not keep its process alive', patience, async () => {
    const file = path()
    const child = startChild('acquire-lock', [file, 'exit'])
    await child.ended
    expect(child.output()).toBe('held\n')
    await (await acquireLock(file, 'ours')).release()
  })

  test.for([
    ['a process that is gone', { pid: 2 ** 22 + 1, started: '1' }],
    ['a process whose number another one has now', { started: '1' }],
    ['an earlier boot of the machine', { boot: 'earlier' }],
    ['an earlier boot, whose socket nobody answers', { boot: 'earlier', socket: 'db.json.lock.00000000.sock' }],
    ['a dead process of another container', { namespace: 'pid:[1]', socket: 'db.json.lock.00000000.sock' }],
  ] as const)('passes on from %s', async ([, owner]) => {
    const file = path()
    leave(file, owner)
    expect(await lockOwner(file)).toBeUndefined()
    const lock = await acquireLock(file, 'ours')
    expect(await lockOwner(file)).toMatchObject({ pid, purpose: 'ours' })
    await lock.release()
  })

  test('passes on when its file is not to be read', async () => {
    const file = path()
    writeFileSync(`${file}.lock`, '{"pid":')
    await (await acquireLock(file, 'ours')).release()
  })

  test('of another container is refused while its socket responds', async () => {
    const file = path()
    const socket = 'db.json.lock.00000000.sock'
    const server = createServer().listen(join(file, '..', socket))
    onTestFinished(() => void server.close())
    leave(file, { namespace: 'pid:[1]', pid: 1, started: '1', socket })
    await expect(acquireLock(file, 'ours')).rejects.toThrow(
      `held by process 1 (an older one) in another container; if that container is gone, remove ${file}.lock`,
    )
  })

  test('of a process that is shown another boot is refused while its socket responds', async () => {
    const file = path()
    const socket = 'db.json.lock.00000000.sock'
    const server = createServer().listen(join(file, '..', socket))
    onTestFinished(() => void server.close())
    leave(file, { boot: 'of the container', pid: 31, socket })
    await expect(acquireLock(file, 'ours')).rejects.toThrow('held by process 31 (an older one)')
    expect(await lockOwner(file)).toMatchObject({ pid: 31 })
  })

  test('holds between real containers, which see neither processes nor abstract sockets', patience, async ({ skip }) => {
    skip(!canUnshare, '`unshare` needs root on Linux')
    const file = path()
    const lock = await acquireLock(file, 'ours')
    const isolated = ['unshare', '--pid', '--net', '--fork', '--kill-child=SIGKILL']
    const refused = startChild('acquire-lock', [file], isolated)
    expect(await refused.lines(1)).toEqual([expect.stringContaining(`held by process ${pid} (ours) in another container`)])
    await lock.release()
    const holder = startChild('acquire-lock', [file], isolated)
    expect(await holder.lines(1)).toEqual(['held'])
    await expect(acquireLock(file, 'ours')).rejects.toThrow('in another container')
    await holder.kill()
    await expect.poll(() => lockOwner(file), { timeout: 60_000 }).toBeUndefined()
    await (await acquireLock(file, 'ours')).release()
  })

  test('of a dead process goes to exactly one of many processes that want it', patience, async () => {
    for (let round = 0; round < 3; round++) {
      const file = path()
      leave(file, { started: '1' })
      const children = Array.from({ length: 4 }, () => startChild('acquire-lock', [file]))
      const outcomes = await Promise.all(children.map(async (child) => (await child.lines(1))[0]))
      expect(outcomes.filter((outcome) => outcome === 'held')).toHaveLength(1)
      await Promise.all(children.map((child) => child.kill()))
    }
  })

  test('names a file system without hard links', async () => {
    const refusing = vi.spyOn(promises, 'link').mockRejectedValue(Object.assign(new Error('not permitted'), { code: 'EPERM' }))
    syncBuiltinESMExports()
    onTestFinished(() => {
      refusing.mockRestore()
      syncBuiltinESMExports()
    })
    await expect(acquireLock(path(), 'test')).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringMatching(
        /db\.json\.lock cannot be written: its file system has no hard links \(EPERM\); choose another one$/,
      ),
    })
  })

  test('names the directory that is missing', async () => {
    const file = join(temporaryDirectory(), 'nowhere', 'db.json')
    await expect(acquireLock(file, 'ours')).rejects.toMatchObject({ code: 'unavailable', message: expect.stringContaining(file) })
  })
})

describe('a lock file without sockets', () => {
  /** Texts begin with `dead` or `living`; who writes a living one keeps it. */
  const rules = { isHeld: async (text: string) => text.startsWith('living'), forget: async () => {} }

  test('goes from a dead owner to exactly one of many concurrent ones', async () => {
    for (let round = 0; round < 30; round++) {
      const file = join(temporaryDirectory(), 'lock')
      writeFileSync(file, `dead ${round}`)
      const takers = Array.from({ length: 12 }, (_, i) => claimFile(file, `living ${round} ${i}`, rules))
      const outcomes = await Promise.all(takers)
      const winners = outcomes.flatMap((outcome, i) => (outcome === undefined ? [`living ${round} ${i}`] : []))
      expect(winners).toEqual([readFileSync(file, 'utf8')])
      expect(readdirSync(join(file, '..'))).toEqual(['lock'])
    }
  })

  test('stays with who took it over while another had only just found the owner dead', async () => {
    const file = join(temporaryDirectory(), 'lock')
    writeFileSync(file, 'dead 1')
    const slow = {
      ...rules,
      async isHeld(text: string) {
        if (text === 'dead 1') await claimFile(file, 'living quick', rules)
        return rules.isHeld(text)
      },
    }
    expect(await claimFile(file, 'living slow', slow)).toBe('living quick')
    expect(readFileSync(file, 'utf8')).toBe('living quick')
  })

  test('passes on although someone died while it passed on', async () => {
    const directory = temporaryDirectory()
    const file = join(directory, 'lock')
    writeFileSync(file, 'dead 1')
    // Its first step alone: the right to replace `dead 1` is a file that no one removed.
    const right = await rightTo(file, 'dead 1')
    writeFileSync(right, 'dead 2')
    expect(await claimFile(file, 'living 3', rules)).toBeUndefined()
    expect(readFileSync(file, 'utf8')).toBe('living 3')
    expect(existsSync(right)).toBe(false)
  })

  /** Where the right to replace a text stands, found out by watching someone take it. */
  async function rightTo(file: string, text: string): Promise<string> {
    const elsewhere = join(file, '..', 'copy')
    mkdirSync(elsewhere)
    writeFileSync(join(elsewhere, 'lock'), text)
    let seen = ''
    const watching = {
      isHeld: rules.isHeld,
      forget: async () => {
        seen = readdirSync(elsewhere).find((name) => name !== 'lock' && !name.endsWith('.tmp')) ?? ''
      },
    }
    await claimFile(join(elsewhere, 'lock'), 'living 0', watching)
    return join(file, '..', seen)
  }
})
