/** Tasks of an admin, done with the tools for agents by what these say about themselves. */
import { expect, test } from 'vitest'
import { evaluate } from '../../../bench/agents/play.ts'
import { tasks } from '../../../bench/agents/tasks.ts'

test('each task can be done with the tools, and the few calls that it takes return little', async () => {
  const { played } = await evaluate()
  expect(played.filter(({ failed }) => failed !== null)).toEqual([])
  expect(played).toHaveLength(tasks.length)
  for (const { task, calls, characters } of played) expect([task, calls <= 5, characters < 10_000]).toEqual([task, true, true])
})

test('a tool that does not say what it needs fails its task', async () => {
  const { played } = await evaluate([
    { task: 'Call a tool that is not there.', play: async (agent) => Boolean(await agent('members_bless')) },
    { task: 'Guess an id.', play: async (agent) => Boolean(await agent('members_show', { id: '4711' })) },
    { task: 'Leave the id out.', play: async (agent) => Boolean(await agent('members_show')) },
    { task: 'Misspell an argument.', play: async (agent) => Boolean(await agent('members_list', { query: 'Ada' })) },
  ])
  expect(played.map(({ failed }) => failed)).toEqual([
    'there is no tool members_bless',
    'members_show: no result has shown 4711',
    'members_show needs id',
    'members_list has no query',
  ])
})
