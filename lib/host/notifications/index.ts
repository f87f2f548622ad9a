import { courseNotifications } from './courses.ts'
import type { MakeNotification, Plainly } from './define.ts'
import { eventNotifications } from './events.ts'
import { memberNotifications } from './members.ts'
import { paymentNotifications } from './payments.ts'
import { planNotifications } from './plans.ts'
import { reportNotifications } from './reports.ts'
import { requestNotifications } from './requests.ts'

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
