import type { MakeFact, Plainly } from './fact.ts'
import { courseFacts } from './facts/courses.ts'
import { eventFacts } from './facts/events.ts'
import { memberFacts } from './facts/members.ts'
import { paymentFacts } from './facts/payments.ts'
import { planFacts } from './facts/plans.ts'
import { reportFacts } from './facts/reports.ts'
import { requestFacts } from './facts/requests.ts'

/** Facts that no operation makes and the host knows; see `recordOf`. */
export type Recorder = { readonly [Name in keyof Facts]: Plainly<Facts[Name]> }

type Facts = ReturnType<typeof recordOf>

/**
 * `community.record`: one function for each fact. Each takes the network and the fact's fields, checks them as a request's,
 * runs in one transaction with the events that it causes, and answers with the record.
 */
export const recordOf = (fact: MakeFact) => ({
  ...planFacts(fact),
  ...memberFacts(fact),
  ...paymentFacts(fact),
  ...requestFacts(fact),
  ...courseFacts(fact),
  ...reportFacts(fact),
  ...eventFacts(fact),
})
