import type { MakeNotification, Plainly } from './notification.ts'
import { courseNotifications } from './notifications/courses.ts'
import { eventNotifications } from './notifications/events.ts'
import { memberNotifications } from './notifications/members.ts'
import { paymentNotifications } from './notifications/payments.ts'
import { planNotifications } from './notifications/plans.ts'
import { reportNotifications } from './notifications/reports.ts'
import { requestNotifications } from './notifications/requests.ts'

/** Notifications of the host about changes outside of the API; see `notifyOf`. */
export type Notify = { readonly [Name in keyof Notifications]: Plainly<Notifications[Name]> }

type Notifications = ReturnType<typeof notifyOf>

/**
 * `community.notify`: one function for each notification. It takes the network and the fields of the notification and checks
 * them as those of a request. It runs in one transaction with the events that it causes, and returns the record.
 */
export const notifyOf = (notification: MakeNotification) => ({
  ...planNotifications(notification),
  ...memberNotifications(notification),
  ...paymentNotifications(notification),
  ...requestNotifications(notification),
  ...courseNotifications(notification),
  ...reportNotifications(notification),
  ...eventNotifications(notification),
})
