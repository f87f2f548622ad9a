/**
 * The story of an admin, in a real browser: members are imported, found, tagged, exported, banned and erased, tags merged, a report
 * closed. `FOLKMOOT_STORY_MEMBERS=5000` plays it with more members, and `FOLKMOOT_STORY_STORAGE` in a SQLite file.
 */
import process from 'node:process'
import { describe, expect, test } from 'vitest'
import { memoryStorage } from '../../adapters/storage/memory.ts'
import { sqliteStorage } from '../../adapters/storage/sqlite.ts'
import { shared } from '../support/shared.ts'
import { connect, isInstalled } from './browser.ts'
import { startSite } from './site.ts'

const count = Number(process.env['FOLKMOOT_STORY_MEMBERS'] ?? 300)
const file = process.env['FOLKMOOT_STORY_STORAGE']
const idle = 40
const network = '1'

const csv = () => {
  const rows = Array.from({ length: count }, (_, n) => {
    const month = n < idle ? '05' : '07'
    return `member${n}@example.org;Member ${n};2025-${month}-${String(1 + (n % 28)).padStart(2, '0')}T10:00:00Z`
  })
  return `Mail;Name;last_visited_at\r\n${rows.join('\r\n')}\r\n`
}

describe.skipIf(!isInstalled)('an admin in Chromium', () => {
  test('imports, finds, tags, exports, bans and erases members, merges tags and closes a report', {
    timeout: 300_000,
  }, async () => {
    const site = await startSite(
      () => ({ actor: 'ada@example.org', networks: 'all', access: 'all' }),
      {},
      file === undefined ? memoryStorage() : await sqliteStorage({ path: file }),
    )
    const browser = await connect(await shared('browser'))
    const times: [string, number][] = []
    const timed = async (title: string, work: () => Promise<void>) => {
      const begun = performance.now()
      await work()
      times.push([title, Math.round(performance.now() - begun)])
    }
    try {
      const { community } = site
      const page = await (await browser.newContext({})).newPage()
      const go = (path: string) => page.goto(`${site.panel}/${network}/${path}`)
      const press = (name: string | RegExp) => page.getByRole('button', { name }).first().click()

      await timed('import', async () => {
        await go('members')
        await page.getByRole('link', { name: 'Import' }).click()
        await page.getByLabel('File').setInputFiles({ name: 'people.csv', mimeType: 'text/csv', buffer: Buffer.from(csv()) })
        await press('Next: the columns')
        await page.getByLabel('Name of the import').fill('Spring')
        await press('Preview')
        await page.getByText('nothing was changed').waitFor()
        await press(/^Import .* rows$/)
        await page.getByText('They carry the tag').waitFor({ timeout: 120_000 })
      })
      const tags = await Promise.all(
        ['Idle', 'idle since June'].map((title) => community.call('tags.create', { network, body: { title } })),
      )
      const [kept, gone] = [tags[0]?.id ?? '', tags[1]?.id ?? '']

      await timed('find the idle ones, and tag them', async () => {
        await go('members?state=active&last_visited_before=2025-06-01T00:00:00Z')
        await page.getByText(`${idle} members`).waitFor()
        await page.getByLabel(`all ${idle} of this list`).check()
        await press('Go on')
        await page.getByLabel('Give a tag').selectOption(gone)
        await press('Go on')
        await page.getByText(`${idle} tags or badges of members are added`).waitFor()
        await press(`Give a tag: ${idle} members`)
        await page.getByText(`${idle} done, 0 refused.`).waitFor()
      })

      await timed('export them', async () => {
        await go(`members?tag_id=${gone}`)
        const href = await page.getByRole('link', { name: 'Export' }).getAttribute('href')
        const text = String(await page.evaluate(`fetch(${JSON.stringify(href)}).then((response) => response.text())`))
        expect(text.trimEnd().split('\r\n')).toHaveLength(idle + 1)
      })

      await timed('merge two tags', async () => {
        await go('labels')
        await page.getByRole('link', { name: 'Merge idle since June' }).click()
        const into = page.getByRole('combobox').first()
        await into.selectOption(kept)
        await press(/./)
        await page.getByText('nothing was changed').waitFor()
        await press(/Merge/)
        await page.getByText('Idle').first().waitFor()
      })

      expect((await community.tags.list(network)).items.map(({ title, member_count }) => [title, member_count])).toEqual(
        expect.arrayContaining([['Idle', idle]]),
      )
      const [first] = (await community.members.list(network, { q: 'member0@example.org' })).items
      const id = first?.id ?? ''
      const space = await community.call('spaces.create', { network, body: { name: 'Garden' } })
      const body = { space_id: space.id, title: 'Watches', description: 'Cheap' }
      const post = await community.call('posts.create', { network, as: id, body })
      const [host] = (await community.members.list(network, { role: 'host' })).items
      const about = { targetable_type: 'Post', targetable_id: post.id, report_type: 'spam' } as const
      await community.notify.abuseReport({ network, member_id: host?.id ?? '', ...about })

      await timed('close a report', async () => {
        await go('reports')
        await page.getByText('Watches').first().waitFor()
        await page.getByRole('link', { name: /^Delete the content/ }).click()
        await page.getByText('nothing was changed').waitFor()
        await press('Delete the content')
        await page.getByText('Watches').first().waitFor({ state: 'detached' })
      })
      expect((await community.reports.list(network)).items).toEqual([])

      await timed('preview and do a ban', async () => {
        await go(`members/${id}`)
        await page.getByRole('link', { name: 'Ban' }).click()
        await page.getByText('nothing was changed').waitFor()
        await page.getByLabel('Reason').fill('Sells watches')
        await press('Ban')
        await page.getByText('The member is banned.').waitFor()
      })

      await timed('erase a person', async () => {
        await go(`members/${id}`)
        await page.getByRole('link', { name: 'Erase' }).click()
        await page.getByText('nothing was changed').waitFor()
        await press('Erase for good')
        await page.getByText('The person is erased.').waitFor()
      })
      expect(await community.members.get(network, id)).toMatchObject({ state: 'deleted', email: '' })
      // The panel takes at most 1,000.
      const left = count - idle
      if (left <= 1000)
        await timed('remove the others, page by page, without a click', async () => {
          await go('members?state=active&last_visited_after=2025-07-01T00:00:00Z')
          await page.getByLabel(`all ${left} of this list`).check()
          await page.getByLabel('With the ticked members').selectOption('remove')
          await press('Go on')
          await page.getByText('nothing was changed').waitFor()
          await press(`Remove: ${left} members`)
          await page.getByText(`${left} done, 0 refused.`).waitFor()
        })
      if (file !== undefined) process.stdout.write(`${times.map(([title, ms]) => `${title}: ${ms} ms`).join('\n')}\n`)
    } finally {
      await browser.close()
      await site.close()
    }
  })
})
