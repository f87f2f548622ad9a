/** Wrong command lines: the message of every command of both programs names the help of that command. */
import type { Command } from 'commander'
import { describe, expect, test } from 'vitest'
import { examplesOf, commandsOf as knownCommands } from '../../daemon/help.ts'
import { createProgram as createRelay } from '../../daemon/relay/operate/commands/program.ts'
import { createProgram } from '../../daemon/server/program.ts'
import { ended } from '../support/program.ts'

const nothing = (): void => {}
const host = { json: false, version: '0.0.0', encryptionKeys: undefined, failed: nothing }
const made = () => ({
  folkmoot: createProgram({ ...host, out: { line: nothing, warn: nothing }, starting: nothing }),
  'folkmoot-relay': createRelay({
    ...host,
    output: { write: nothing },
    progress: nothing,
    onSignal: nothing,
    serviceManager: { socket: undefined, watchdog: 0 },
  }),
})
const programs = made()

class Parsed extends Error {}

/** The words of the command that the program would run. */
async function parsed(name: keyof typeof programs, given: readonly string[]): Promise<string> {
  const program = made()[name].hook('preAction', (_, command) => {
    const words: string[] = []
    for (let each: Command | null = command; each?.parent; each = each.parent) words.unshift(each.name())
    throw new Parsed(words.join(' '))
  })
  try {
    await program.parseAsync(given, { from: 'user' })
  } catch (error) {
    if (error instanceof Parsed) return error.message
    throw error
  }
  throw new Error('it ran')
}

/** Every command below this one, with the words before it. */
const commandsOf = (command: Command, words: readonly string[] = []): readonly (readonly [string, Command])[] => [
  [words.join(' '), command],
  ...command.commands.flatMap((each) => commandsOf(each, [...words, each.name()])),
]

describe.each(['folkmoot', 'folkmoot-relay'] as const)('%s', (program) => {
  const all = commandsOf(programs[program])
  const run = (words: string, ...rest: readonly string[]) => ended(program, ...words.split(' ').filter(Boolean), ...rest)
  const whole = (words: string): string => `${program} ${words}`.trim()
  const isMissing = (command: Command): boolean => command.options.some(({ mandatory }) => mandatory)

  test.each(all)('%s: an unknown option', async (words, { options }) => {
    const needed = options.flatMap(({ mandatory, long, argChoices }) => (mandatory && long ? [long, argChoices?.[0] ?? 'x'] : []))
    const { code, stderr } = await run(words, ...needed, '--no-such-option')
    expect([code, stderr.trim()]).toEqual([2, `${program}: unknown option '--no-such-option'\n(see ${whole(words)} --help)`])
  })

  test.each(all.filter(([, { commands }]) => commands.length > 0))('%s: an unknown command', async (words) => {
    const { code, stderr } = await run(words, 'no-such-command')
    expect([code, stderr.trim()]).toEqual([2, `${program}: unknown command 'no-such-command'\n(see ${whole(words)} --help)`])
  })

  test.each(all.filter(([, command]) => isMissing(command)))('%s: a missing option', async (words) => {
    const { code, stderr } = await run(words)
    expect([code, stderr.trim().split('\n').at(-1)]).toEqual([2, `(see ${whole(words)} --help)`])
  })

  test.each(all)('%s: the help that is named is there', async (words, command) => {
    const { code, stdout } = await run(words, '--help')
    expect([code, stdout.split('\n')[0]]).toEqual([0, `Usage: ${whole(words)} ${command.usage()}`])
  })

  test('its commands are those that the other program knows of', () => {
    const leaves = all.filter(([, { commands }]) => commands.length === 0).map(([words]) => words)
    expect(knownCommands(program).toSorted()).toEqual(leaves.toSorted())
  })

  test.each(all)('%s: its help has examples, which the program takes', async (words) => {
    const { stdout } = await run(words, '--help')
    const examples = examplesOf(program, words)
    expect(examples.length).toBeGreaterThan(0)
    expect(stdout).toContain(`Examples:\n  ${examples.join('\n  ')}\n`)
    for (const example of examples) {
      const [, ...given] = [...example.matchAll(/"([^"]*)"|\S+/g)].map(([word, quoted]) => quoted ?? word)
      const found = await parsed(program, given)
      expect([found, knownCommands(program).includes(found)]).toEqual([expect.stringMatching(new RegExp(`^${words}`)), true])
    }
  })

  test('its commands are in groups', async () => {
    const { stdout } = await run('', '--help')
    const headings = [...stdout.matchAll(/^(\w[\w ]*):$/gm)].map(([, heading]) => heading)
    expect(headings).toEqual(
      program === 'folkmoot'
        ? ['Options', 'Start', 'Administer', 'People', 'Webhooks', 'Data', 'For programs', 'Commands', 'Examples']
        : ['Options', 'Run', 'Look', 'Act', 'Commands', 'Examples'],
    )
  })

  test('an error as JSON is one object', async () => {
    const { code, stderr } = await run(program === 'folkmoot' ? 'networks list' : 'status', '--json', '--no-such-option')
    expect([code, JSON.parse(stderr)]).toEqual([2, { error: "unknown option '--no-such-option'" }])
  })
})

test.each([
  ['folkmoot', 'endpoints test 7', "unknown command 'test': it is `folkmoot-relay endpoints test`"],
  ['folkmoot', 'endpoints test --help', "unknown command 'test': it is `folkmoot-relay endpoints test`"],
  ['folkmoot', 'deliveries', "unknown command 'deliveries': it is `folkmoot-relay deliveries`"],
  ['folkmoot', 'deliveries --help', "unknown command 'deliveries': it is `folkmoot-relay deliveries`"],
  ['folkmoot', 'dead -h', "unknown command 'dead': it is `folkmoot-relay dead`"],
  ['folkmoot', 'help resend', "unknown command 'resend': it is `folkmoot-relay resend`"],
  ['folkmoot', 'nothing --help', "unknown command 'nothing'"],
  ['folkmoot-relay', 'members --help', "unknown command 'members': it is `folkmoot members`"],
  ['folkmoot', 'endpoints test --endpoint 7', "unknown command 'test': it is `folkmoot-relay endpoints test`"],
  ['folkmoot', 'resend --event-id x', "unknown command 'resend': it is `folkmoot-relay resend`"],
  ['folkmoot-relay', 'endpoints list', "unknown command 'list': it is `folkmoot endpoints list`"],
  ['folkmoot-relay', 'networks create --title x', "unknown command 'networks': it is `folkmoot networks`"],
  ['folkmoot', 'statu', "unknown command 'statu'"],
] as const)('%s %s names the program that has the command', async (program, words, sentence) => {
  const { code, stderr } = await ended(program, ...words.split(' '))
  expect([code, stderr.split('\n')[0]]).toEqual([2, `${program}: ${sentence}`])
  const { stderr: json } = await ended(program, ...words.split(' '), '--json')
  expect(JSON.parse(json)).toEqual({ error: sentence })
})
