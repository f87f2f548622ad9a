import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join, resolve as resolvePath } from 'node:path'
import { execPath, getuid, platform } from 'node:process'
import { createInterface } from 'node:readline'
import { expect, onTestFinished, test } from 'vitest'
import { temporaryDirectory } from '../../../support/directory.ts'
import { nameServer } from './support.ts'

/** Asks for the address of each name that it reads. */
const asking = `
  import { createInterface } from 'node:readline'
  import { systemResolve } from ${JSON.stringify(resolvePath('daemon/relay/send/resolve.ts'))}
  const resolve = systemResolve()
  for await (const name of createInterface({ input: process.stdin }))
    console.log(JSON.stringify(await resolve(name).catch(({ code }) => ({ code }))))
`

/** A process for which another file is `/etc/resolv.conf`. */
function elsewhere() {
  const file = join(temporaryDirectory(), 'resolv.conf')
  writeFileSync(file, '')
  const program = `mount --bind ${file} /etc/resolv.conf && exec "$0" --input-type=module --eval "$1"`
  const child = spawn('unshare', ['--mount', 'sh', '-c', program, execPath, asking], { stdio: ['pipe', 'pipe', 'inherit'] })
  onTestFinished(() => void child.kill())
  const lines = createInterface({ input: child.stdout })
  return {
    async resolve(name: string): Promise<unknown> {
      child.stdin.write(`${name}\n`)
      const [line] = await once(lines, 'line')
      return JSON.parse(String(line))
    },
    askAt: (port: number) => writeFileSync(file, `nameserver 127.0.0.1:${port}\n`),
  }
}

const canMount = platform === 'linux' && getuid?.() === 0 && spawnSync('unshare', ['--mount', 'true']).status === 0
const noMount = 'another /etc/resolv.conf for one process needs root on Linux'

test('names are asked of the name servers that the machine has now', async ({ skip }) => {
  if (!canMount) return skip(noMount)
  const machine = elsewhere()
  const first = await nameServer({ a: { addresses: ['192.0.2.1'] }, aaaa: {} })
  machine.askAt(first.port)
  expect(await machine.resolve('name.example')).toEqual([{ address: '192.0.2.1', family: 4 }])

  const second = await nameServer({ a: { addresses: ['192.0.2.2'] }, aaaa: {} })
  await first.close()
  machine.askAt(second.port)
  expect(await machine.resolve('name.example')).toEqual([{ address: '192.0.2.2', family: 4 }])
})

test('a machine without a name server leaves names to the system', async ({ skip }) => {
  if (!canMount) return skip(noMount)
  const machine = elsewhere()
  const { port, close } = await nameServer({ a: {}, aaaa: {} })
  await close()
  machine.askAt(port)
  // The failure is the system's: that of the name servers would be a receiver that refuses connections.
  expect(await machine.resolve('name.example')).toMatchObject({ code: expect.stringMatching(/^(EAI_AGAIN|ENOTFOUND)$/) })
})

test('a name server that drops queries for IPv6 delays no name of the machine', async ({ skip }) => {
  if (!canMount) return skip(noMount)
  const machine = elsewhere()
  const { port } = await nameServer({ a: { addresses: ['127.0.0.1'] }, aaaa: { silent: true } })
  machine.askAt(port)
  const begin = performance.now()
  for (let count = 0; count < 5; count++)
    expect(await machine.resolve('name.example')).toEqual([{ address: '127.0.0.1', family: 4 }])
  // The first look-up waits for the process to begin; each of them would take six seconds.
  expect(performance.now() - begin).toBeLessThan(20_000)
})
