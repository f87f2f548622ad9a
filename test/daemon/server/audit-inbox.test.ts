/** The audit of a server with lines that commands of the relay leave while it takes others. */
import { expect, test } from 'vitest'
import { leaveLine, type WaitingLine } from '../../../adapters/outbox/audit-inbox.ts'
import { auditInbox } from '../../../daemon/server/operate/audit-inbox.ts'
import type { HostCalls } from '../../../lib/index.ts'
import { createTestCommunity } from '../../support/community.ts'
import { temporaryDirectory } from '../../support/directory.ts'

const line = (work_id: string): WaitingLine => ({
  ...{ network: '1', action: 'deliveries.skipped', subject: { type: 'endpoint', id: '7', name: 'Shop' } },
  ...{ by: { actor: 'cli:ada' }, at: '2026-11-20T10:00:00.000Z', work_id, details: {} },
})

test('the audit has a line that was left before it was requested, also while earlier lines are taken', async () => {
  const directory = temporaryDirectory()
  const { community, clock } = await createTestCommunity()
  clock.advance(3_600_000)
  const [begun, slow] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const { audit } = community
  // A storage that takes its time.
  const record: typeof audit.record = async (entry) => {
    begun.resolve()
    await slow.promise
    return audit.record(entry)
  }
  const calls: Pick<HostCalls, 'audit' | 'by'> = {
    audit,
    by: (actor) => ({ ...community.by(actor), audit: { ...audit, record } }),
  }
  const faults: unknown[] = []
  const inbox = auditInbox(
    calls,
    directory,
    (files) => faults.push(...files),
    (error) => faults.push(error),
  )
  await leaveLine(directory, line('first'))
  const taking = inbox.take()
  await begun.promise
  await leaveLine(directory, line('second'))
  const listed = inbox.over(calls).audit.list({ network: '1', action: 'deliveries.skipped' })
  slow.resolve()
  await taking
  expect((await listed).items.map(({ details }) => details['work_id']).toSorted()).toEqual(['first', 'second'])
  expect(faults).toEqual([])
})
