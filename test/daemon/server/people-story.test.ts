/** The story of an admin with many members, from the command line: `bench/story.ts` plays it with 5,000 and shows the times. */
import { test } from 'vitest'
import { temporaryDirectory } from '../../support/directory.ts'
import { playStory } from '../../support/people-story.ts'
import { ended } from '../../support/program.ts'

test('an admin imports, finds, bans, merges, closes, hands out and erases, and no file has the erased person', async () => {
  await playStory(temporaryDirectory(), 800, (...args) => ended('folkmoot', ...args))
})
