import type { EventRecord } from '../../../lib/outbox/record.ts'

/** An event to append. Nothing here needs the test runner, so that separate programs can use it. */
export const event = (id: string, text = 'hello'): EventRecord => ({
  kind: 'event',
  network_id: '1',
  event_id: id,
  event_type: 'PostCreatedHook',
  event_timestamp: '2026-11-20T10:00:00.000Z',
  audience: 'integration',
  body: JSON.stringify({ event_id: id, payload: { text } }),
})
