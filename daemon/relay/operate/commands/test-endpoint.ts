/** `folkmoot-relay endpoints test`: one delivery to see whether an endpoint can be reached. */
import { keyRing } from '../../../../lib/outbox/encryption.ts'
import { auditedHeader } from '../../../../lib/relay/control-client.ts'
import { jsonLines, plain, plainLines } from '../../../json.ts'
import { encryptionKeysOf } from '../../../read-encryption-keys.ts'
import { UsageError } from '../../../usage.ts'
import { commandActor } from '../../../user.ts'
import { systemClock } from '../../clock.ts'
import { openOperatorStore } from '../../open-store.ts'
import { userAgentOf } from '../../send/sender.ts'
import { sendTest } from '../../send/test-delivery.ts'
import type { OperatorStore } from '../../store/operator/operator-store.ts'
import { announcedControl } from '../control/control-port.ts'
import { outboxOf, readSettings, type SettingFlags } from '../settings/read-settings.ts'
import { ruleRemedy } from '../settings/rule-remedy.ts'
import { type FoundEndpoint, findEndpoint } from '../tasks/on-endpoint.ts'
import { audited, subjectOf } from '../tasks/trail.ts'
import type { Checked } from './check.ts'

export interface TestFlags extends SettingFlags {
  readonly outbox?: string
  readonly network?: string
  readonly endpoint?: string
  readonly json?: boolean
}

interface Tested {
  readonly outcome: string
  readonly status: number | null
  readonly reason: string
  readonly milliseconds: number
  readonly closed_circuit: boolean
  /** The beginning of a failed answer, as text. */
  readonly answer: string | null
  /** The settings in force: the relay's or the command's. */
  readonly sent_by: 'relay' | 'command'
}

/**
 * Sends a `TestHook` with the rules of every delivery. The running relay sends it, if its control port can be found; else this
 * command does, with its own flags. Nothing is recorded but that an open circuit is closed when it was delivered.
 * @throws UsageError when there is no such endpoint
 */
export async function testEndpoint(flags: TestFlags, version: string): Promise<Checked> {
  const outbox = outboxOf(flags.outbox)
  const { network, endpoint: id } = flags
  if (id === undefined) throw new UsageError('endpoints test needs --endpoint')
  const store = await openOperatorStore(outbox)
  try {
    const found = await findEndpoint(store, id, network)
    const running = (await store.relays()).length > 0
    const { endpoint } = found
    const work = { network: endpoint.network_id, action: 'endpoint.tested', subject: subjectOf(endpoint) } as const
    const tested = await audited({ outbox, actor: commandActor() }, [work], {
      run: async () =>
        (running ? await testByRelay(outbox, found) : undefined) ?? (await testFromHere(store, found, flags, version)),
      done: ({ outcome, status, closed_circuit }) => ({ outcome, status, ...(closed_circuit ? { closed_circuit } : {}) }),
    })
    const ok = tested.outcome === 'delivered'
    return { ok, text: flags.json ? jsonLines([tested]) : `${sentence(tested, running)}\n` }
  } finally {
    await store.close()
  }
}

/** Longer than any time-out of a delivery, in milliseconds. */
const answerTimeoutMs = 310_000

/** Asks the relay that runs; undefined when that cannot be asked. */
async function testByRelay(outbox: string, { endpoint, circuit }: FoundEndpoint): Promise<Tested | undefined> {
  const control = announcedControl(outbox)
  if (!control) return undefined
  try {
    const response = await fetch(
      `http://127.0.0.1:${control.port}/networks/${endpoint.network_id}/endpoints/${endpoint.id}/test`,
      {
        method: 'POST',
        headers: { authorization: `Bearer ${control.key}`, [auditedHeader]: 'yes' },
        signal: AbortSignal.timeout(answerTimeoutMs),
      },
    )
    if (response.status !== 200) return undefined
    const given = (await response.json()) as Partial<Tested>
    const { outcome, status = null, reason = '', milliseconds = 0, answer = null } = given
    if (typeof outcome !== 'string') return undefined
    return {
      ...{ outcome, status, reason: String(reason), milliseconds: Number(milliseconds) },
      closed_circuit: outcome === 'delivered' && circuit === 'open',
      answer: typeof answer === 'string' ? answer : null,
      sent_by: 'relay',
    }
  } catch {
    return undefined
  }
}

async function testFromHere(
  store: OperatorStore,
  { endpoint, circuit }: FoundEndpoint,
  flags: TestFlags,
  version: string,
): Promise<Tested> {
  const settings = await readSettings(flags)
  const { open } = keyRing(encryptionKeysOf({ ...flags, ...settings }))
  const { result, status, reason, milliseconds, answer = null } = await sendTest(endpoint, open, settings, userAgentOf(version))
  const closed_circuit = result === 'delivered' && circuit === 'open'
  // It is as good as a probe.
  if (closed_circuit) await store.startAfresh(endpoint.ref, systemClock.now())
  return { outcome: result, status, reason, milliseconds, closed_circuit, answer, sent_by: 'command' }
}

/** Characters of an answer on a terminal; with `--json` it is all that is kept of it. */
const shownOfAnswer = 1_000

function sentence({ outcome, reason, milliseconds, closed_circuit, answer, sent_by }: Tested, running: boolean): string {
  const result = `${outcome === 'delivered' ? 'delivered' : `not delivered: ${outcome}`} (${plain(reason)}, ${milliseconds} ms)`
  const parts = [
    result,
    ...(closed_circuit ? ['its circuit is closed, sending resumes'] : []),
    ...(outcome === 'blocked' ? [ruleRemedy(reason)] : []),
    ...(running && sent_by === 'command' ? ['sent with the flags of this command: the running relay has no control port'] : []),
  ]
  const said = parts.filter((part) => part !== '').join('; ')
  return answer === null || answer === '' ? said : `${said}\nthe endpoint answered: ${plainLines(answer.slice(0, shownOfAnswer))}`
}
