/** The places from which the host's calls go on with a list. */
import { expect, test } from 'vitest'
import { createTestCommunity } from '../../support/community.ts'

test('a place that no list has is refused with its name by every call that has pages', async () => {
  const { community } = await createTestCommunity()
  const [host] = (await community.members.list('1')).items
  const id = host?.id ?? ''
  const calls: Readonly<Record<string, (after: string) => Promise<unknown>>> = {
    'networks.page': (after) => community.networks.page({ after }),
    'keys.page': (after) => community.keys.page('1', { after }),
    'members.list': (after) => community.members.list('1', { after }),
    'tags.list': (after) => community.tags.list('1', { after }),
    'reports.list': (after) => community.reports.list('1', { after }),
    exportPage: (after) => community.exportPage('1', { what: 'posts', after }),
    'members.exportPage': (after) => community.members.exportPage('1', id, { after: `1_${after}` }),
  }
  // Larger than any id, and with a zero that no id begins with.
  for (const [name, call] of Object.entries(calls))
    for (const after of ['18446744073709551615', '007'])
      await expect(call(after), `${name} ${after}`).rejects.toMatchObject({
        status: 422,
        message: expect.stringContaining('after'),
      })
})
