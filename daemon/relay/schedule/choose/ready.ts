/**
 * The endpoints that may have something to send, in turns, and when to look at the others again.
 *
 * Turns go over the networks, then over the endpoints of a network. Endpoints of each standing have separate lists, so that one
 * that may start is found without a walk past a thousand that may not.
 */

import { type Standing, standings } from '../endpoint/attempt-health.ts'
import { createLinkedList, type LinkedList, type ListNode } from './linked-list.ts'
import type { Shares } from './shares.ts'
import { createWakeTimes } from './wake-times.ts'

export interface Contender {
  readonly endpoint: { readonly network_id: string }
  readonly standing: Standing
}

export interface Ready<Run extends Contender> {
  /** Puts an endpoint at the end of its network's list, once. */
  add(run: Run): void
  /** The first ones that may start, which stay where they are. */
  upcoming(count: number): readonly Run[]
  /** Takes the first one that may start; it is to be put back, or to sleep. */
  next(): Run | undefined
  /** Slots have become free: networks that had their share are looked at again. */
  reopen(): void
  /** Leaves an endpoint out until a time of the timeline, or until it is added. */
  sleep(run: Run, until: number): void
  /** Adds those whose time has come. */
  awake(now: number): void
  /** When the next one awakes, or infinity. */
  readonly earliest: number
}

/** The endpoints of one network and one standing. */
interface Group<Run> {
  readonly network: string
  readonly standing: Standing
  readonly runs: LinkedList<Run>
  /** Among the networks; missing while the network has its share. */
  node: ListNode<Group<Run>> | undefined
}

interface Position<Run> {
  readonly group: Group<Run>
  readonly node: ListNode<Run>
}

interface Side<Run> {
  readonly standing: Standing
  /** The networks to look at, in turns. */
  readonly turns: LinkedList<Group<Run>>
  readonly groups: Map<string, Group<Run>>
}

const sideOf = <Run>(standing: Standing): Side<Run> => ({ standing, turns: createLinkedList(), groups: new Map() })

export function createReady<Run extends Contender>(shares: Pick<Shares, 'open' | 'allows'>): Ready<Run> {
  const sides = { quick: sideOf<Run>('quick'), slow: sideOf<Run>('slow'), doubtful: sideOf<Run>('doubtful') }
  let parked: Group<Run>[] = []
  let turn = 0
  const wakeTimes = createWakeTimes<Run>()
  const positions = new Map<Run, Position<Run>>()
  /** When each of those that are in the wake times awakes. */
  const wakesAt = new Map<Run, number>()

  function groupOf({ endpoint: { network_id: network }, standing }: Run): Group<Run> {
    const { groups, turns } = sides[standing]
    const known = groups.get(network)
    if (known) return known
    const group: Group<Run> = { network, standing, runs: createLinkedList(), node: undefined }
    group.node = turns.add(group)
    groups.set(network, group)
    return group
  }

  function leave(run: Run, { group, node }: Position<Run>): void {
    positions.delete(run)
    group.runs.remove(node)
    if (group.runs.first) return
    const { groups, turns } = sides[group.standing]
    groups.delete(group.network)
    if (group.node) turns.remove(group.node)
    group.node = undefined
  }

  function add(run: Run): void {
    const position = positions.get(run)
    if (position?.group.standing === run.standing) return
    if (position) leave(run, position)
    const group = groupOf(run)
    positions.set(run, { group, node: group.runs.add(run) })
  }

  function nextOf({ standing, turns }: Side<Run>): Run | undefined {
    while (shares.open(standing)) {
      const group = turns.first?.value
      const run = group?.runs.first?.value
      const position = run && positions.get(run)
      if (!group?.node || !position) return undefined
      turns.remove(group.node)
      if (shares.allows(group)) {
        group.node = turns.add(group)
        leave(run, position)
        return run
      }
      group.node = undefined
      parked.push(group)
    }
    return undefined
  }

  return {
    add,
    upcoming(count) {
      const found: Run[] = []
      // Of each network first its first one, then its second one, as the turns will go.
      let nodes: ListNode<Run>[] = []
      for (const { standing, turns } of Object.values(sides)) {
        if (!shares.open(standing)) continue
        for (let each = turns.first, left = count; each && left > 0; each = each.after, left--)
          if (each.value.runs.first && shares.allows(each.value)) nodes.push(each.value.runs.first)
      }
      while (nodes.length > 0 && found.length < count) {
        found.push(...nodes.map(({ value }) => value))
        nodes = nodes.flatMap(({ after }) => after ?? [])
      }
      return found.slice(0, count)
    },
    next() {
      turn++
      for (let step = 0; step < standings.length; step++) {
        const standing = standings[(turn + step) % standings.length]
        const run = standing && nextOf(sides[standing])
        if (run) return run
      }
      return undefined
    },
    reopen() {
      const waiting = parked
      parked = []
      for (const group of waiting) {
        // Empty ones have been dropped; there may be another one of the same network by now.
        const { groups, turns } = sides[group.standing]
        if (groups.get(group.network) === group) group.node ??= turns.add(group)
      }
    },
    sleep(run, until) {
      // One entry per endpoint: each new event for one whose circuit is open would otherwise add another.
      if (until >= (wakesAt.get(run) ?? Number.POSITIVE_INFINITY)) return
      wakesAt.set(run, until)
      wakeTimes.add(until, run)
    },
    awake(now) {
      for (const run of wakeTimes.take(now)) {
        wakesAt.delete(run)
        add(run)
      }
    },
    get earliest() {
      return wakeTimes.earliest
    },
  }
}
