import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { config } from '../../../../daemon/relay/operate/commands/config.ts'
import { begunRelay } from '../../../support/begun.ts'
import { temporaryDirectory } from '../../../support/directory.ts'
import { ended } from '../../../support/program.ts'
import { until } from '../support.ts'

async function fileWith(settings: object): Promise<string> {
  const file = join(temporaryDirectory(), 'relay.json')
  await writeFile(file, JSON.stringify(settings))
  return file
}

const linesOf = async (flags: Parameters<typeof config>[0]) => {
  const lines = (await config({ ...flags, json: true })).trim().split('\n')
  return lines.map((line) => JSON.parse(line) as { setting: string; value: unknown; from: string; running?: unknown })
}

test('config prints each setting with its value and where it comes from', async () => {
  const file = await fileWith({ maxInFlight: 20, timeout: 7 })
  const lines = await linesOf({ config: file, timeout: '20', encryptionKeys: Buffer.alloc(32, 1).toString('base64') })
  const of = (name: string) => lines.find(({ setting }) => setting === name)
  expect(of('timeout')).toEqual({ setting: 'timeout', value: 20, from: '--timeout' })
  expect(of('maxInFlight')).toEqual({ setting: 'maxInFlight', value: 20, from: file })
  expect(of('keepDead')).toEqual({ setting: 'keepDead', value: 30, from: 'default' })
  expect(of('lease')).toEqual({ setting: 'lease', value: 40, from: 'default, by timeout' })
  expect(of('encryption keys')).toEqual({ setting: 'encryption keys', value: '1 key', from: 'FOLKMOOT_ENCRYPTION_KEYS' })
})

test('config names the variable that a setting comes from, and never shows a password', async () => {
  vi.stubEnv('FOLKMOOT_PROXY', 'http://relay:pass-word@127.0.0.1:3128')
  onTestFinished(() => void vi.unstubAllEnvs())
  const { stdout, code } = await ended('folkmoot-relay', 'config', '--json')
  expect(code).toBe(0)
  expect(stdout).not.toContain('pass-word')
  const line = stdout.split('\n').find((each) => each.includes('"proxy"')) ?? '{}'
  expect(JSON.parse(line)).toEqual({ setting: 'proxy', value: 'http://127.0.0.1:3128', from: 'FOLKMOOT_PROXY' })
})

test('config fits the terminal, and refuses what `run` refuses', async () => {
  const table = await config({ width: 60 })
  expect(Math.max(...table.split('\n').map((line) => line.length))).toBeLessThanOrEqual(60)
  await expect(config({ config: await fileWith({ timeOut: 7 }) })).rejects.toThrow('setting `timeOut` does not exist')
})

test('config writes a setting without a value in one way', async () => {
  const rows = (await config({ wide: true })).split('\n')
  const value = (name: string) =>
    rows
      .find((row) => row.startsWith(`${name} `))
      ?.slice(name.length)
      .trim()
      .split(/ +/)[0]
  expect(['allowAddresses', 'ports', 'noProxy', 'proxy', 'ca', 'hostEvents', 'encryption keys'].map(value)).toEqual(
    Array.from({ length: 7 }, () => '–'),
  )
  expect(rows.at(-2)).toBe('A running relay has its own settings: --outbox shows them.')
})

test('config shows the settings of a running relay next to those that `run` would take', async () => {
  const outbox = temporaryDirectory()
  expect(await config({ outbox })).toContain('No relay is running on this outbox.')
  const proxy = 'http://relay:pass-word@127.0.0.1:3128'
  const relay = begunRelay('run', '--json', '--outbox', outbox, '--retry-schedule', '0,1,2', '--proxy', proxy)
  await relay.written('"relay.started"')
  const of = async (name: string) => (await linesOf({ outbox, timeout: '20' })).find(({ setting }) => setting === name)
  await until(async () => (await of('timeout'))?.running !== undefined, 'its settings are known')
  expect(await of('retrySchedule')).toMatchObject({ from: 'default', running: [0, 1, 2] })
  expect(await of('timeout')).toEqual({ setting: 'timeout', value: 20, from: '--timeout', running: 10 })
  expect(await of('proxy')).toMatchObject({ value: null, running: 'http://127.0.0.1:3128' })
  expect(await of('encryption keys')).not.toHaveProperty('running')
  const table = await config({ outbox, wide: true })
  expect(table).toMatch(/^retrySchedule +0,5,300,.* +default +0,1,2$/m)
  expect(table).toMatch(/^A relay is running \(process \d+ on .*\), with the settings of the column `running`/m)
  expect(readFileSync(join(outbox, 'relay', 'settings.json'), 'utf8')).not.toContain('pass-word')
  expect(await relay.stop()).toBe(0)
  expect(await of('timeout')).not.toHaveProperty('running')
})
