/** The members of a filter, as a file that the browser stores. */
import { expect, test } from 'vitest'
import { admin, createTestPanel } from './support.ts'

async function panelWithMembers(...given: Parameters<typeof createTestPanel>) {
  const run = await createTestPanel(...given)
  for (let n = 0; n < 120; n++) {
    const body = { email: `m${n}@example.org`, first_name: n === 7 ? '=1+1' : `M${n}`, last_name: 'Test' }
    await run.community.call('members.create', { network: '1', body })
  }
  return run
}

test('is whole, honours the filter of the list, and disarms formulas', async () => {
  const { get } = await panelWithMembers()
  expect((await get('1/members?role=contributor')).text).toMatch(/href="[^"]*members\/export\?role=contributor"/)
  const { text, headers, status } = await get('1/members/export?role=contributor')
  expect(status).toBe(200)
  expect(headers.get('content-type')).toBe('text/csv; charset=utf-8')
  expect(headers.get('content-disposition')).toBe('attachment; filename="members-demo.csv"')
  const lines = text.trimEnd().split('\r\n')
  expect(lines).toHaveLength(121)
  expect(lines[0]).toMatch(/^id,.*first_name/)
  expect(text).toContain(`"'=1+1"`)
  expect((await get('1/members/export?role=queen')).status).toBe(422)
})

test('leaves out what the host masks', async () => {
  const { get } = await panelWithMembers(admin, { maskedFields: ['email'] })
  const [header] = (await get('1/members/export')).text.split('\r\n')
  expect(header?.split(',')).not.toContain('email')
})

test('leaves out answers and names where the pages of members show them as dots', async () => {
  for (const [maskedFields, isThere] of [
    [['phone_number'], false],
    [['bio'], true],
  ] as const) {
    const { get, community } = await createTestPanel(admin, { maskedFields })
    const body = { title: 'Mobile', response_type: 'phone_number', privacy: 'public', response_by: 'individual_member' } as const
    await community.call('custom_fields.create', { network: '1', body })
    const columns = (await get('1/members/export')).text.split('\r\n')[0]?.split(',')
    expect(columns?.includes('Mobile')).toBe(isThere)
    expect(columns).toContain('tags')
  }
  const { get } = await createTestPanel(admin, { maskedFields: ['first_name'] })
  expect((await get('1/members/export')).text).not.toContain('Host')
})
