/** `folkmoot-relay check`: whether a relay could run here, without changing anything. */

import { existsSync } from 'node:fs'
import { isPostgresAddress } from '../../../adapters/storage/postgres/address.ts'
import { damageText, type Positions } from '../../../lib/outbox/source.ts'
import { UsageError } from '../../usage.ts'
import { openOperatorStore, storePath } from '../backing.ts'
import { outboxOf, readSettings, type SettingFlags } from '../config.ts'
import { checkUrl } from '../guard.ts'
import { openSource } from '../outbox-address.ts'
import { openSqliteStore } from '../store/sqlite/store.ts'
import { jsonLines } from './output.ts'

export interface CheckFlags extends SettingFlags {
  readonly outbox?: string
  readonly json?: boolean
}

export interface Checked {
  readonly ok: boolean
  readonly text: string
}

/** What is looked at in one go. */
const pieceBytes = 4 * 1024 * 1024

/**
 * Reads the settings, the store and what stands in the outbox, and says what is wrong.
 * @throws UsageError for settings that cannot be used, StorageError for an outbox that cannot be read
 */
export async function check(flags: CheckFlags): Promise<Checked> {
  const outbox = outboxOf(flags.outbox)
  const settings = await readSettings(flags)
  const path = storePath(outbox)
  const problems: string[] = []
  let positions: Positions = {}
  let endpoints = 0

  const operator = await openOperatorStore(outbox).catch((error: unknown) => {
    // No relay has run here yet.
    if (error instanceof UsageError) return undefined
    throw error
  })
  if (operator) {
    problems.push(...(await operator.problems()).map((problem) => `store: ${problem}`))
    for (const endpoint of await operator.knownEndpoints()) {
      endpoints++
      const url = checkUrl(endpoint.url, settings)
      if (!url.ok) problems.push(`endpoint ${endpoint.id} of network ${endpoint.network_id}: ${url.reason}`)
    }
    await operator.close()
  }
  if (!isPostgresAddress(outbox) && existsSync(path)) {
    const store = openSqliteStore(path)
    positions = await store.positions()
    await store.close()
  }

  const source = await openSource(outbox, true)
  let commits = 0
  for (let more = true; more; ) {
    const reading = await source.read(positions, pieceBytes)
    commits += reading.commits.length
    positions = { ...positions, ...reading.positions }
    problems.push(...reading.damage.map((each) => `outbox: ${damageText(each)}`))
    more = reading.more
  }
  await source.close()

  const summary = { ok: problems.length === 0, endpoints, waiting_commits: commits, problems }
  if (flags.json) return { ok: summary.ok, text: jsonLines([summary]) }
  const counts = `${endpoints} endpoints, ${commits} commits wait in the outbox\n`
  return {
    ok: summary.ok,
    text: `${counts}${problems.map((problem) => `problem: ${problem}\n`).join('')}${summary.ok ? 'all is well\n' : ''}`,
  }
}
