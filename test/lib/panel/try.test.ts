/** The page on which operations can be tried: with the file of the host, under a policy of that page alone. */
import { expect, test } from 'vitest'
import { admin, createTestPanel } from './support.ts'

test('the page loads the file of the host from the panel, and its policy allows no other origin', async () => {
  let reads = 0
  const scalar = async () => {
    reads += 1
    return new TextEncoder().encode('console.log("scalar")')
  }
  const { get } = await createTestPanel(admin, { scalar })
  expect((await get('1/reference')).text).toContain('reference/try')
  expect(reads).toBe(0)
  const { status, text, headers } = await get('1/reference/try')
  expect(status).toBe(200)
  const policy = headers.get('content-security-policy') ?? ''
  expect(policy).toContain("style-src 'self' 'unsafe-inline'")
  expect(policy.match(/https?:|\*|unsafe-eval/g)).toBeNull()
  const [file = ''] = /assets\/scalar-[0-9a-f]{16}\.js/.exec(text) ?? []
  const asset = await get(file)
  expect([asset.status, asset.text, asset.headers.get('cache-control')]).toEqual([
    ...[200, 'console.log("scalar")', 'public, max-age=31536000, immutable'],
  ])
  expect((await get('assets/scalar-0000000000000000.js')).status).toBe(404)
  expect(reads).toBe(1)
  const document = JSON.parse((await get('1/reference/openapi.json')).text)
  expect(Object.keys(document.paths)).toContain('/admin/v1/networks/demo/tags')
  expect([document.servers, JSON.stringify(document).includes('{network_id}')]).toEqual([[{ url: '/' }], false])
})

test('without the file there is no such page, and one that cannot be read is read again', async () => {
  const without = await createTestPanel()
  expect((await without.get('1/reference')).text).not.toContain('reference/try')
  for (const path of ['1/reference/try', '1/reference/openapi.json', 'assets/scalar-0.js'])
    expect((await without.get(path)).status).toBe(404)
  let isBroken = true
  const scalar = async () => {
    if (isBroken) throw new Error('a fault of a test')
    return new Uint8Array(1)
  }
  const { get, faults } = await createTestPanel(admin, { scalar })
  expect((await get('1/reference/try')).status).toBe(500)
  isBroken = false
  expect([(await get('1/reference/try')).status, faults.length]).toEqual([200, 1])
})
