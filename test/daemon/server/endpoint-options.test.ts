/** The options of every attribute: one that is added is covered as it is declared. */
import { Command, type Option } from 'commander'
import { expect, test } from 'vitest'
import { attributeChanges, attributeOptions } from '../../../daemon/server/commands/endpoints/options.ts'

/** How somebody gives an option, with a value that every kind of option takes. */
const given = ({ long, argChoices, required }: Option): readonly string[] => [
  String(long),
  ...(required ? [argChoices?.[0] ?? '1'] : []),
]

const cases = Object.entries(attributeOptions).flatMap(([name, { options }]) =>
  (['add', 'update'] as const).flatMap((command) =>
    options(command).map((option) => ({ name, command, option, args: given(option) })),
  ),
)

test.each(cases)('endpoints $command $option.long changes $name alone', ({ name, option, args }) => {
  const flags = new Command().addOption(option).parse(args, { from: 'user' }).opts()
  expect(Object.keys(attributeChanges(flags))).toEqual([name])
})
