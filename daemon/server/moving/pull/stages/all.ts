/** Every stage of a pull, in the order of dependence: a record comes after those that it refers to. */
import type { Group } from '../../../../../lib/operation.ts'
import { groupsOf, type Needs, stagesFor } from '../../groups.ts'
import type { Stage } from '../stage.ts'
import { content } from './content.ts'
import { payments } from './payments.ts'
import { ofMembers, people } from './people.ts'

export const stages: readonly Stage[] = [...people, ...content, ...payments, ...ofMembers]

const needs: Needs = {
  spaces: ['members', 'collections'],
  courseworks: ['spaces'],
  posts: ['spaces', 'events'],
  events: ['posts'],
  comments: ['posts'],
  reactions: ['comments'],
  rsvps: ['events'],
  tags: ['members', 'custom_fields', 'options'],
  badges: ['members', 'custom_fields', 'options'],
  options: ['custom_fields'],
  answers: ['members', 'options'],
  plans: ['members'],
  subscriptions: ['plans'],
  purchases: ['plans'],
  invites: ['plans'],
  abuse_reports: ['members'],
}

/** The names for `--only`. */
export const groups: readonly Group[] = groupsOf(stages)

/** The stages of some groups, with those of the records that they refer to; all by default. */
export const stagesOf = (named: readonly Group[] = groups): readonly Stage[] => stagesFor(stages, needs, named)
