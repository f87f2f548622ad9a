import { expect, test } from 'vitest'
import type { PayloadOf } from '../../../lib/index.ts'
import { createSeededCommunity, seeded } from '../../support/seed.ts'

const levelUp = async ({ community }: Awaited<ReturnType<typeof createSeededCommunity>>) => ({
  member: await community.call('members.show', { network: '1', params: { id: seeded.member } }),
  network_id: '1',
  ambassador_level_id: '3',
  ambassador_level_name: 'Gold',
  referral_count: 3,
})

test('an event of the host goes through the same outbox, in its envelope', async () => {
  const test = await createSeededCommunity()
  const payload = await levelUp(test)
  const published = await test.community.publish({
    network: 'demo',
    event: 'MemberAmbassadorLeveledUp',
    payload: payload as never,
  })
  expect(published).toEqual({
    event_id: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/),
  })
  expect(test.newEvents()).toEqual([
    {
      event_id: published.event_id,
      event_timestamp: '2026-11-20T10:00:00.000Z',
      event_type: 'MemberAmbassadorLeveledUpHook',
      payload,
    },
  ])
})

test('only the documented fields of a payload are published', async () => {
  const test = await createSeededCommunity()
  const payload = { ...(await levelUp(test)), password: 'hunter2' }
  await test.community.publish({ network: '1', event: 'MemberAmbassadorLeveledUp', payload: payload as never })
  expect(JSON.stringify(test.newEvents())).not.toContain('hunter2')
})

test('a payload that is not what the webhook carries is refused with the field', async () => {
  const test = await createSeededCommunity()
  const { ambassador_level_name: _, ...payload } = await levelUp(test)
  const publish = (given: unknown) =>
    test.community.publish({
      network: '1',
      event: 'MemberAmbassadorLeveledUp',
      payload: given as PayloadOf<'MemberAmbassadorLeveledUp'>,
    })
  await expect(publish(payload)).rejects.toMatchObject({
    status: 422,
    body: { error: expect.stringContaining('ambassador_level_name') },
  })
  for (const wrong of [null, undefined, 'text', [], { ...payload, ambassador_level_name: 7 }])
    await expect(publish(wrong)).rejects.toMatchObject({ status: 422 })
  expect(test.newEvents()).toEqual([])
})

test('an event that there is not, and a network that there is not, are refused', async () => {
  const test = await createSeededCommunity()
  const payload = (await levelUp(test)) as never
  await expect(test.community.publish({ network: '1', event: 'SunRose' as 'PostCreated', payload })).rejects.toThrow(
    'there is no event "SunRose"',
  )
  await expect(test.community.publish({ network: '9', event: 'MemberAmbassadorLeveledUp', payload })).rejects.toMatchObject({
    status: 404,
  })
})

test('with ids as numbers a payload may be what a record shows', async () => {
  const test = await createSeededCommunity({ ids: 'number' })
  const payload = await levelUp(test)
  expect(typeof payload.member.id).toBe('number')
  await test.community.publish({ network: '1', event: 'MemberAmbassadorLeveledUp', payload: payload as never })
  expect(test.newEvents()[0]?.payload.member.id).toBe(101)
})

test('an event that no outbox could hold is refused with what is too large', async () => {
  const test = await createSeededCommunity()
  const payload = { ...(await levelUp(test)), ambassador_level_name: 'x'.repeat(17 * 1024 * 1024) }
  await expect(
    test.community.publish({ network: '1', event: 'MemberAmbassadorLeveledUp', payload: payload as never }),
  ).rejects.toMatchObject({
    status: 413,
    body: { error: 'The event MemberAmbassadorLeveledUpHook is larger than the limit of 16 MiB' },
  })
  expect(test.newEvents()).toEqual([])
})
