/** Groups of the stages of a pull: their names for `--only`, and the groups that their records refer to. */
import type { Group } from '../../../lib/operation.ts'
import { UsageError } from '../../usage.ts'

interface Grouped {
  readonly group: Group
}

/** The groups that records of a group refer to. */
export type Needs = { readonly [Name in Group]?: readonly Group[] }

export const groupsOf = (stages: readonly Grouped[]): readonly Group[] => [...new Set(stages.map(({ group }) => group))]

export function stagesFor<Stage extends Grouped>(
  stages: readonly Stage[],
  needs: Needs,
  named: readonly Group[],
): readonly Stage[] {
  const wanted = new Set<Group>()
  const add = (group: Group): void => {
    if (wanted.has(group)) return
    wanted.add(group)
    for (const needed of needs[group] ?? []) add(needed)
  }
  for (const group of named) add(group)
  return stages.filter(({ group }) => wanted.has(group))
}

/**
 * Reads `--only`.
 * @throws UsageError for a name of no group
 */
export const namedGroups = (only: string | undefined, groups: readonly Group[]): readonly Group[] | undefined =>
  only?.split(',').map((given) => {
    const name = given.trim()
    const group = groups.find((known) => known === name)
    if (!group) throw new UsageError(`--only must name some of ${groups.join(', ')}, got ${JSON.stringify(name)}`)
    return group
  })
