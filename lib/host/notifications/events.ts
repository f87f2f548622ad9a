/** Changes of single occurrences of recurring events. */
import { fail, found, invalid } from '../../errors.ts'
import { catalogue } from '../../events/catalogue.ts'
import { IdInput, ZonedTimestampInput } from '../../fields.ts'
import { eventPayload } from '../../records/event.ts'
import { port } from '../../rules/ports.ts'
import { inZone, occurrencesAt } from '../../rules/recurrence.ts'
import { canceledInstances, events } from '../../storage/tables/events.ts'
import type { MakeNotification } from './define.ts'

export const eventNotifications = (notification: MakeNotification) => ({
  /**
   * The host has called off one occurrence of a recurring event: `EventInstanceCanceled`. The others take place.
   * @throws ApiError 404 for the event, 422 when none of its occurrences begins then, or that one is called off already
   */
  eventInstanceCanceled: notification(
    { event_id: IdInput, instance_at: ZonedTimestampInput },
    catalogue.EventInstanceCanceled,
    async (call, { event_id, instance_at: time }) => {
      const event = found(await call.tx.lock(events, event_id, 'update'), 'Event')
      const instance_at = inZone('instance_at', time, event.time_zone)
      port(call, 'recurrence', 'instance_at')
      const event_instance =
        occurrencesAt(call, event, [instance_at]).get(instance_at) ??
        fail(invalid('instance_at'), 'instance_at must be the start of an occurrence of the recurring event')
      if (await call.tx.first(canceledInstances, { event_id: event.id, instance_at }))
        fail(invalid('instance_at'), 'The occurrence is canceled already')
      await call.tx.insert(canceledInstances, { ...call.stamp(), event_id: event.id, instance_at })
      const record = { event: await eventPayload(call, event), event_instance }
      call.emit('EventInstanceCanceled', record)
      return record
    },
  ),
})
