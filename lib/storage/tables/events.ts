/** Events and replies to them. */
import { boolean, defaultsTo, integer, nullable, type RowIn, reference, table, text, timestamp } from '../table.ts'

/** The columns of an event beyond its post, under the same id. */
export const events = table(
  'events',
  {
    post_id: reference('posts', 'cascade'),
    event_type: text<'local' | 'live_chat' | 'online_meeting' | 'zoom_meeting' | 'zoom_webinar' | 'webinar' | 'local_meetup'>(),
    starts_at: timestamp(),
    ends_at: timestamp(),
    time_zone: text(),
    location: nullable(text()),
    link: nullable(text()),
    rsvp_enabled: defaultsTo(boolean(), true),
    rsvp_closed: defaultsTo(boolean(), false),
    restricted_event: defaultsTo(boolean(), false),
    post_in_feed: defaultsTo(boolean(), true),
    frequency: nullable(text<'daily' | 'weekly' | 'monthly' | 'yearly'>()),
    interval: nullable(integer()),
    by_days: nullable(text()),
    by_month_days: nullable(text()),
    recurrence_count: nullable(integer()),
    recur_until: nullable(timestamp()),
    recurrence_rule: nullable(text()),
  },
  { indexes: [['starts_at']] },
)

export const rsvps = table(
  'rsvps',
  {
    event_id: reference('events', 'cascade'),
    member_id: reference('members', 'cascade'),
    status: text<'yes' | 'maybe' | 'no'>(),
    /** The occurrence of a recurring event; empty for an event that happens once. */
    instance_at: defaultsTo(text(), ''),
  },
  { unique: [['event_id', 'member_id', 'instance_at']], indexes: [['event_id'], ['event_id', 'instance_at']] },
)

/** Occurrences of recurring events that the host has called off. */
export const canceledInstances = table(
  'canceled_instances',
  { event_id: reference('events', 'cascade'), instance_at: text() },
  { unique: [['event_id', 'instance_at']] },
)

export type EventRow = RowIn<typeof events>
export type RsvpRow = RowIn<typeof rsvps>
