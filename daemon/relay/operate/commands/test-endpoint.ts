/** `folkmoot-relay endpoints test`: one delivery to see whether an endpoint can be reached. */
import { keyRing } from '../../../../lib/outbox/encryption.ts'
import { relayAdminOverControl } from '../../../../lib/relay/control-client.ts'
import type { EndpointRef } from '../../../../lib/relay/relay-admin.ts'
import { jsonLines, plain, plainLines } from '../../../json.ts'
import { encryptionKeysOf } from '../../../read-encryption-keys.ts'
import { CommandFailure } from '../../../usage.ts'
import { commandActor } from '../../../user.ts'
import { audited, subjectOf } from '../../admin/trail.ts'
import { systemClock } from '../../clock.ts'
import { userAgentOf } from '../../send/sender.ts'
import { sendTest } from '../../send/test-delivery.ts'
import type { Endpoint } from '../../store/endpoint/relay-endpoint.ts'
import { controlToken } from '../control/control-token.ts'
import { readSettings, type SettingFlags } from '../settings/read-settings.ts'
import { ruleRemedy } from '../settings/rule-remedy.ts'
import { notedSettings } from '../settings/settings-note.ts'
import type { Checked } from './check.ts'
import { type EndpointFlags, onEndpoint } from './inspect.ts'

export interface TestFlags extends SettingFlags, EndpointFlags {}

interface Tested {
  readonly outcome: string
  readonly status: number | null
  readonly reason: string
  readonly milliseconds: number
  readonly closed_circuit: boolean
  /** The beginning of a failed response, as text. */
  readonly answer: string | null
  /** The settings in force: the relay's or the command's. */
  readonly sent_by: 'relay' | 'command'
}

/**
 * Sends a `TestHook` with the rules of every delivery. The running relay sends it, if its control port can be found; else this
 * command does, with its own flags. Nothing is recorded but that an open circuit is closed when it was delivered.
 * @throws UsageError when there is no such endpoint
 */
export const testEndpoint = (flags: TestFlags, version: string): Promise<Checked> =>
  onEndpoint('endpoints test', flags, async (admin, ref) => {
    const store = await admin.store()
    const [known] = (await store.endpointsOf(ref.network_id)).filter((each) => each.endpoint_id === ref.endpoint_id)
    const endpoint = await admin.endpoint(ref)
    if (!endpoint) throw new CommandFailure(`endpoint ${ref.endpoint_id} was removed`)
    const relays = await store.relays()
    const running = relays.length > 0
    const port = notedSettings(admin.outbox, relays)?.controlPort
    const work = { network: ref.network_id, action: 'endpoint.tested', subject: subjectOf(endpoint) } as const
    const tested = await audited({ outbox: admin.outbox, actor: commandActor() }, [work], {
      async run(): Promise<Tested> {
        const sent =
          (port === undefined ? undefined : await testByRelay(admin.outbox, port, ref)) ??
          (await testFromHere(endpoint, flags, version))
        const closed_circuit = sent.outcome === 'delivered' && known?.circuit === 'open'
        // It is as good as a probe.
        if (closed_circuit && sent.sent_by === 'command') await store.resetEndpoint(endpoint.ref, systemClock.now())
        return { ...sent, closed_circuit }
      },
      done: ({ outcome, status, closed_circuit }) => ({ outcome, status, ...(closed_circuit ? { closed_circuit } : {}) }),
    })
    const ok = tested.outcome === 'delivered'
    return { ok, text: flags.json ? jsonLines([tested]) : `${sentence(tested, running)}\n` }
  })

type Sent = Omit<Tested, 'closed_circuit'>

/** Calls the running relay; undefined when it cannot be reached. */
async function testByRelay(outbox: string, port: number, ref: EndpointRef): Promise<Sent | undefined> {
  const sent = await relayAdminOverControl({ url: `http://127.0.0.1:${port}`, token: () => controlToken(outbox) })
    .test(ref)
    .catch(() => undefined)
  if (!sent) return undefined
  const { outcome, status, reason, milliseconds, answer = null } = sent
  return { outcome, status, reason, milliseconds, answer, sent_by: 'relay' }
}

async function testFromHere(endpoint: Endpoint, flags: TestFlags, version: string): Promise<Sent> {
  const settings = await readSettings(flags)
  const { open } = keyRing(encryptionKeysOf({ ...flags, ...settings }))
  const {
    result,
    status,
    reason,
    milliseconds,
    responseBody: answer = null,
  } = await sendTest(endpoint, open, settings, userAgentOf(version))
  return { outcome: result, status, reason, milliseconds, answer, sent_by: 'command' }
}

/** Characters of a response on a terminal; with `--json` it is all that is kept of it. */
const shownOfResponse = 1_000

function sentence({ outcome, reason, milliseconds, closed_circuit, answer, sent_by }: Tested, running: boolean): string {
  const result = `${outcome === 'delivered' ? 'delivered' : `not delivered: ${outcome}`} (${plain(reason)}, ${milliseconds} ms)`
  const parts = [
    result,
    ...(closed_circuit ? ['its circuit is closed, sending resumes'] : []),
    ...(outcome === 'blocked' ? [ruleRemedy(reason)] : []),
    ...(running && sent_by === 'command' ? ['sent with the flags of this command: the running relay has no control port'] : []),
  ]
  const said = parts.filter((part) => part !== '').join('; ')
  return answer === null || answer === ''
    ? said
    : `${said}\nthe endpoint responded: ${plainLines(answer.slice(0, shownOfResponse))}`
}
