/**
 * Every task of the panel by the keyboard alone: with the script at 1280 pixels, and without it at 360. No test here clicks, or puts
 * the focus anywhere.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { deliveryOf, relayOf } from '../lib/panel/relay.ts'
import { soaking } from '../support/rounds.ts'
import { shared } from '../support/shared.ts'
import { type Browser, type ContextOptions, connect, isInstalled, type Page } from './browser.ts'
import { type Keyboard, keyboardOf } from './keyboard.ts'
import { startSite } from './site.ts'

/** Buttons and searches that would do nothing without the script. A search whose form has a button does. */
const idle = `[...document.querySelectorAll('button[type=button],[type=search]:not([role=search] *),[data-copy],[data-all]')].filter((each) => each.checkVisibility()).map((each) => each.textContent || each.id).join()`

describe.skipIf(!isInstalled).each([
  { way: 'with the script', script: true, width: 1280 },
  { way: 'without the script at 360 pixels', script: false, width: 360 },
])('the keyboard alone, $way', ({ script, width }) => {
  const relay = relayOf({
    1: ['a', 'b', 'c', 'd'].map((id) =>
      deliveryOf(id, { state: 'dead', last_outcome: 'status', last_status: 500, attempts: 12 }),
    ),
  })
  let site: Awaited<ReturnType<typeof startSite>>
  let browser: Browser
  beforeAll(async () => {
    site = await startSite(() => ({ actor: 'ada@example.org', networks: 'all', access: 'all' }), { relay, signOut: 'out' })
    browser = await connect(await shared('browser'))
  })
  afterAll(async () => {
    await browser.close()
    await site.close()
  })

  async function visit(path: string, work: (keys: Keyboard, page: Page) => Promise<void>): Promise<void> {
    const options: ContextOptions = { javaScriptEnabled: script, viewport: { width, height: 800 } }
    const context = await browser.newContext(options)
    try {
      const page = await context.newPage()
      await page.goto(`${site.panel}/${path}`)
      const keys = keyboardOf(page)
      await work(keys, page)
      if (!script) expect(await page.evaluate(idle)).toBe('')
      expect(keys.problems).toEqual([])
    } finally {
      await context.close()
    }
  }
  /** Waits until the focus is on the element whose name begins so. */
  const at = (keys: Keyboard, name: string) => expect.poll(async () => (await keys.here()).slice(0, name.length)).toBe(name)
  const value = (page: Page, id: string) => page.evaluate(`document.getElementById('${id}').value`)
  const me = async (token: unknown): Promise<number> =>
    (await fetch(`${site.origin}/admin/v1/networks/1/me`, { headers: { authorization: `Bearer ${token}` } })).status

  test('a key is made, copied, and revoked after a question', async () => {
    await visit('1/keys', async (keys, page) => {
      await keys.follow('Create a key', 'Create an API key')
      await keys.to('Name')
      await keys.type('By keyboard')
      // No scope is chosen yet: the focus is on the group with the problem.
      await keys.enter('Nothing was saved')
      await at(keys, 'Scopes')
      expect(await page.locator('fieldset').getAttribute('aria-describedby')).toContain('scopes-wrong')
      await keys.to('The resources below')
      await keys.press('ArrowDown')
      await keys.enter('is shown this once')
      await at(keys, 'Copy it now')
      const token = await value(page, 'token')
      expect(await me(token)).toBe(200)
      await keys.to('The key')
      if (script) {
        await keys.to('Copy')
        await keys.enter('Copied.')
        await at(keys, 'Copy')
      } else {
        expect(await page.evaluate(idle)).toBe('')
        await keys.press('Control+c')
      }
      await keys.follow('Done', 'By keyboard')
      await keys.follow('Create a key', 'Create an API key')
      await keys.to('Name')
      await keys.press('Control+v')
      expect(await value(page, 'name')).toBe(token)
      await keys.follow('Cancel', 'By keyboard')

      await keys.follow('Revoke By keyboard', 'Revoke “By keyboard”?')
      expect(await page.locator('dialog').count()).toBe(script ? 1 : 0)
      await at(keys, 'Revoke “By keyboard”?')
      if (script) await keys.press('Escape')
      else await keys.follow('Cancel', 'By keyboard')
      if (script) await at(keys, 'Revoke By keyboard')
      else await keys.to('Revoke By keyboard')
      await keys.enter('Revoke “By keyboard”?')
      await keys.follow('Revoke the key', 'The key is revoked.')
      await at(keys, 'The key is revoked')
      expect(await me(token)).toBe(401)
    })
  })

  describe('members', () => {
    const network = '1'
    beforeAll(async () => {
      const { community } = site
      for (const name of ['Grace', 'Ben', 'Cleo', 'Dora'])
        await community.call('members.create', {
          network,
          body: { email: `${name}@tasks.test`, first_name: name, last_name: 'Oak', send_welcome_email: false },
        })
      for (const title of ['Gardener', 'Gardening']) await community.call('tags.create', { network, body: { title } })
    })
    const idOf = async (name: string) => (await site.community.members.list(network, { q: name })).items[0]?.id ?? ''
    const counts = async () =>
      (await site.community.tags.list(network)).items.map(({ title, member_count }) => [title, member_count])

    test('members are filtered, ticked, and get a tag after a question', async () => {
      await visit('1/members', async (keys, page) => {
        await keys.to('Filter and order')
        await keys.press('Space')
        await keys.to('Role')
        await keys.type('contributor')
        await keys.follow('Search', '1 set')
        expect(page.url()).toContain('role=contributor')
        await keys.to('Tick Cleo Oak')
        await keys.press('Space')
        await keys.to('Tick Ben Oak')
        await keys.press('Space')
        await keys.to('With the ticked members')
        await keys.type('Give a tag')
        await keys.to('all 4 of this list')
        await keys.follow('Go on', 'Give a tag')
        await keys.to('Give a tag')
        await keys.type('Gardening')
        await keys.follow('Go on', 'Give a tag: 2 members?')
        await keys.follow('Give a tag: 2 members', '2 done, 0 refused.')
        await at(keys, '2 done')
        await keys.follow('Back to the members', 'Everyone who is or was')
      })
      expect(await counts()).toEqual([
        ['Gardener', 0],
        ['Gardening', 2],
      ])
    })

    test('a member is banned on their page after a question', async () => {
      await visit(`1/members/${await idOf('Ben')}`, async (keys) => {
        await keys.follow('Ban Ben Oak', 'Ban this member?')
        await at(keys, 'Ban this member?')
        if (script) await keys.press('Escape')
        else await keys.follow('Cancel', 'Ban Ben Oak')
        if (script) await at(keys, 'Ban Ben Oak')
        else await keys.to('Ban Ben Oak')
        await keys.enter('Ban this member?')
        await keys.to('Reason')
        await keys.type('Sells watches')
        await keys.follow('Ban', 'The member is banned.')
        await at(keys, 'The member is banned')
        await keys.to('Lift the ban Ben Oak')
      })
      expect((await site.community.members.list(network, { q: 'Ben' })).items).toMatchObject([
        { state: 'banned', ban_reason: 'Sells watches' },
      ])
    })

    test('a report is closed after a question', async () => {
      const about = { targetable_type: 'User', targetable_id: await idOf('Dora'), report_type: 'spam' } as const
      const report = await site.community.notify.abuseReport({ network, member_id: await idOf('Grace'), ...about })
      await visit('1/reports', async (keys) => {
        await keys.follow(`Dismiss, report ${report.id}`, 'Dismiss the report?')
        await at(keys, 'Dismiss the report?')
        await keys.follow('Dismiss', 'The report is dismissed.')
        await at(keys, 'The report is dismissed')
        await keys.to('Closed')
      })
      expect((await site.community.reports.list(network)).items).toEqual([])
    })

    test('a tag is added, and merged into another one after a question', async () => {
      await visit('1/labels', async (keys) => {
        await keys.follow('Add a tag', 'Such as #1F5F8B')
        await keys.to('Title')
        await keys.type('Gardner')
        await keys.enter('The tag is added.')
        await at(keys, 'The tag is added')
        await keys.follow('Merge Gardner', 'Its members get this tag instead')
        await keys.to('Its members get this tag instead')
        await keys.type('Gardener')
        await keys.follow('Go on', 'Merge these tags?')
        await keys.follow('Merge the tags', 'The tags are merged.')
        await at(keys, 'The tags are merged')
      })
      expect((await counts()).map(([title]) => title)).toEqual(['Gardener', 'Gardening'])
    })

    test('a file of members is chosen, its columns are looked at, and it is imported', async () => {
      await visit('1/members', async (keys, page) => {
        // The browser takes a moment to hand its dialogs over, and says nothing when it has: so long before there is one.
        const choosing = page.waitForEvent('filechooser')
        await keys.follow('Import', 'Next: the columns')
        await keys.to('File')
        const [chooser] = await Promise.all([choosing, keys.press('Space')])
        const buffer = Buffer.from('e-mail,First name\nida@tasks.test,Ida\n')
        await chooser.setFiles({ name: 'people.csv', mimeType: 'text/csv', buffer })
        await keys.follow('Next: the columns', 'What are the columns?')
        await keys.to('First name')
        await keys.to('Name of the import')
        await keys.type('Spring')
        await keys.follow('Preview', 'nothing was changed')
        await keys.follow('Import 1 row', 'New members: 1.')
        await keys.follow('Show its members', 'Ida')
      })
    })
  })

  // `npm test` does few tasks, and the soak all of them.
  if (!script && !soaking) return

  test('the skip link leads into the page, and Tab leads through all of it and out again', async () => {
    await visit('1/keys/new', async (keys) => {
      await keys.press('Tab')
      await at(keys, 'Skip to the content')
      await keys.press('Enter', 'Tab')
      await at(keys, 'Name')
      await keys.to('Cancel')
      await keys.to('Skip to the content')
      await keys.to('Networks')
    })
  })

  test('the audit is filtered and exported', async () => {
    await visit('1/audit', async (keys, page) => {
      await keys.to('Filter')
      await keys.press('Space')
      await keys.to('Action')
      await keys.type('network.created')
      await keys.follow('Apply', 'service_plan')
      const [saved] = await Promise.all([
        page.waitForEvent('download'),
        keys.to('Export', 'Shift+Tab').then(() => keys.press('Enter')),
      ])
      expect(saved.suggestedFilename()).toBe('audit-1.ndjson')
    })
  })

  // Pages with hundreds of stops.
  if (!soaking) return

  test('an endpoint is added, tested, edited, rotated, paused and deleted', async () => {
    await visit('1/webhooks', async (keys, page) => {
      await keys.follow('Add an endpoint', 'Add an endpoint')
      await keys.to('Address')
      await keys.type('http://user:pass@hooks.example.org/keyboard')
      await keys.enter('Nothing was saved')
      await at(keys, 'Address')
      expect(await page.locator('#url').getAttribute('aria-describedby')).toBe('url-hint url-wrong')
      await keys.press('Control+a')
      await keys.type('https://hooks.example.org/keyboard')
      await keys.to('Order')
      await keys.press('ArrowDown')
      await keys.to('Every event')
      await keys.press('ArrowDown')
      if (script) {
        await keys.to('Search events')
        await keys.type('created post')
        await keys.enter('1 of')
        expect(await page.locator('[data-group]:visible').count()).toBe(1)
      }
      await keys.to('PostCreated')
      await keys.press('Space')
      if (script) {
        await keys.follow('example of PostCreated', 'The body of a delivery')
        await at(keys, 'PostCreated')
        await keys.press('Escape')
        await at(keys, 'example of PostCreated')
        await keys.to('Search events', 'Shift+Tab')
        // Escape empties the field.
        await keys.press('Escape')
      }
      await keys.to('MemberJoined')
      await keys.press('Space')
      await keys.follow('Add the endpoint', 'Copy them now.')
      const secret = await value(page, 'secret')
      await keys.to('The signing secret')
      await keys.follow('To the endpoint', 'hooks.example.org')
      expect(await site.community.endpoints.list('1')).toMatchObject([
        { order: 'subject', events: ['PostCreatedHook', 'MemberJoinedHook'], signed: true },
      ])
      await keys.follow('Send a test event', 'The endpoint accepted the event.')
      await at(keys, 'The endpoint accepted')
      await keys.follow('Back to the endpoint', 'Settings')

      await keys.follow('Edit', 'Edit the endpoint')
      await keys.to('Name (optional)')
      await keys.type('Renamed')
      await keys.enter('The changes are saved.')
      await at(keys, 'The changes are saved')

      await keys.follow('Rotate', 'Rotate key and secret')
      await keys.to('The key')
      await keys.press('Space')
      await keys.follow('Rotate', 'Copy them now.')
      expect(await value(page, 'secret')).not.toBe(secret)
      expect(await page.locator('#key').count()).toBe(0)
      await keys.follow('To the endpoint', 'Renamed')

      await keys.follow('Pause', 'The endpoint is paused.')
      await keys.follow('Resume', 'Events are sent to the endpoint again.')
      await keys.follow('Delete', 'Nothing more is sent to it.')
      await at(keys, 'Delete Renamed?')
      await keys.follow('Delete the endpoint', 'The endpoint is deleted.')
    })
    expect(await site.community.endpoints.list('1')).toEqual([])
  })

  test('deliveries are filtered, opened and resent: one, the selected, and all with a stop', async () => {
    await visit('1/deliveries', async (keys, page) => {
      await keys.to('Filter')
      await keys.press('Enter')
      await keys.to('State')
      await keys.type('Failed')
      await keys.to('HTTP status')
      await keys.type('abc')
      await keys.enter('The filter has a value')
      await at(keys, 'HTTP status')
      expect(await page.locator('#status').getAttribute('aria-describedby')).toBe('status-wrong')
      await keys.press('Control+a')
      await keys.type('500')
      await keys.follow('Apply', 'event-a')
      expect(page.url()).toMatch(/state=dead.*status=500/)

      await keys.follow('PostCreated', 'Show the body')
      await keys.follow('Show the body', 'Hide the body')
      await keys.to(/^payload/)
      await keys.press('Enter')
      expect(await page.locator('.json details[open]').count()).toBe(1)
      await keys.press('Space')
      expect(await page.locator('.json details[open]').count()).toBe(2)
      await keys.to('Resend', 'Shift+Tab')
      await keys.enter('The delivery is queued again.')
      await at(keys, 'The delivery is queued again')
    })
    await visit('1/deliveries?state=dead', async (keys, page) => {
      await keys.follow('Resend the selected', 'Nothing is selected.')
      await at(keys, 'Nothing is selected.')
      expect(page.url()).toContain('state=dead')
      await keys.to('Select PostCreated event-b')
      await keys.press('Space')
      if (script) {
        await keys.to('Select all on this page')
        await keys.press('Enter')
      } else {
        await keys.to('Select PostCreated event-d')
        await keys.press('Space')
      }
      const count = script ? 4 : 2
      await keys.follow('Resend the selected', `Resend ${count} deliveries?`)
      await keys.follow('Cancel', 'event-a')
      expect(page.url()).toContain('state=dead')
      await keys.follow('Resend all that match', 'Resend 4 deliveries?')
      await keys.to('At most, each second')
      await keys.press('ArrowDown')
      await keys.follow('Resend 4 deliveries', '3 of 10 are queued again')
      await keys.to('Stop')
      // The progress changes by itself, and leaves the focus where it is.
      if (script) for (let round = 0; round < 2; round++) await page.waitForResponse(/\/resends\//)
      await at(keys, 'Stop')
      await keys.enter('Stopped')
      await keys.follow('To the deliveries', 'event-a')
    })
    expect(relay.resends).toMatchObject([
      { ids: ['a'], per_second: 1 },
      { state: 'dead', per_second: 1 },
    ])
    expect(relay.stopped).toEqual(['r2'])
  })

  test('operations are found, and the way out is a button', async () => {
    await visit('1/reference', async (keys, page) => {
      if (script) {
        await keys.to('Search operations')
        await keys.type('list abuse')
        await page.getByText('1 of').waitFor()
      }
      await keys.to('/abuse_reports')
      await keys.enter('an API key with the scope')
      await keys.to('Sign out')
    })
    await visit('1/overview', async (keys) => {
      await keys.to('API reference')
    })
    await visit('1/webhooks/events', async (keys) => {
      await keys.to('example of ArticleCreated')
    })
  })
})
