/** Every attribute of an endpoint, from the outbox to the attempt: one that is added is covered as it is declared. */
import * as v from 'valibot'
import { expect, onTestFinished, test } from 'vitest'
import { openOutbox } from '../../../adapters/outbox/file.ts'
import { systemClock, timeline } from '../../../daemon/relay/clock.ts'
import { safely } from '../../../daemon/relay/events.ts'
import { startIngest } from '../../../daemon/relay/ingest/ingest.ts'
import { openStore } from '../../../daemon/relay/open-store.ts'
import { createScheduler } from '../../../daemon/relay/schedule/scheduler.ts'
import type { OpenEndpoint } from '../../../daemon/relay/send/credentials.ts'
import type { Sender } from '../../../daemon/relay/send/sender.ts'
import { defaultSettings } from '../../../daemon/relay/settings.ts'
import { keyRing } from '../../../lib/outbox/encryption.ts'
import {
  type AttributeName,
  attributeDefaults,
  attributes,
  type RecordedAttributes,
} from '../../../lib/outbox/endpoint-attributes.ts'
import type { EndpointUpsert } from '../../../lib/outbox/record.ts'
import { audiences, formats, orders } from '../../../lib/outbox/values.ts'
import { temporaryDirectory } from '../../support/directory.ts'
import { endpoint, event, until } from './support.ts'

const url = 'https://hook.example/attributes'
const names = Object.keys(attributes) as AttributeName[]

/** What these attributes must be, or nothing would be sent. */
const fixed: Partial<RecordedAttributes> = { url, events: ['PostCreatedHook'], enabled: true }

/** Values of many kinds, each of them this attribute's own where that is possible. */
function candidates(name: AttributeName): readonly unknown[] {
  const secret = `whsec_${Buffer.from(name.padEnd(24, '.')).toString('base64')}`
  const number = 1000 + names.indexOf(name)
  const replaced = { value: secret, until: new Date(Date.UTC(2999, 0, 1, 0, 0, number)).toISOString() }
  const texts = [
    `the ${name}`,
    name,
    `x-${name}: ${name}`,
    secret,
    `https://${name}.example/`,
    ...audiences,
    ...orders,
    ...formats,
  ]
  const header = { name: `x-${name}`, value: secret }
  return [
    ...texts,
    number,
    number / 1000,
    true,
    false,
    [replaced],
    [secret],
    [name],
    [header],
    ['127.0.0.1'],
    { path: '/title', exists: false },
    { [name]: name },
  ]
}

/** A value that the attribute may have, and does not have by itself. */
function chosenValue(name: AttributeName): unknown {
  if (name in fixed) return fixed[name]
  const usual = (attributeDefaults as Partial<Record<AttributeName, unknown>>)[name]
  const value = candidates(name).find((each) => each !== usual && v.is(attributes[name], each))
  if (value === undefined) throw new Error(`no candidate is a value of the attribute ${name}: add one to \`candidates\``)
  return value
}

const values = Object.fromEntries(names.map((name) => [name, chosenValue(name)]))

/** The endpoint that the first attempt gets, of a relay on a directory with these records. */
async function attemptOf(record: EndpointUpsert, encryptionKeys: readonly string[]): Promise<OpenEndpoint | undefined> {
  const outbox = temporaryDirectory()
  const writer = await openOutbox({ directory: outbox })
  await writer.append([[record], [event('a', { audience: record.audience })]])
  await writer.close()
  const sent: OpenEndpoint[] = []
  const sender: Sender = {
    async send({ endpoint }) {
      sent.push(endpoint)
      return { result: 'delivered', status: 204, reason: '', retryAfter: undefined, milliseconds: 1 }
    },
    abort: () => undefined,
    forget: () => undefined,
    isHeld: () => false,
    proxy: { isDown: false },
    reload: () => undefined,
    close: async () => undefined,
  }
  const clock = systemClock
  const settings = () => ({ ...defaultSettings, retrySchedule: [0] })
  const { store, intake, close } = await openStore({ outbox, clock, settings })
  const recovered = await store.recover(clock.now())
  const context = { clock, timeline: timeline(clock, recovered.time), settings, events: safely({}) }
  const scheduler = createScheduler({ ...context, store, sender, random: () => 0.5, encryptionKeys }, recovered)
  const ingest = startIngest({ ...context, intake, onIngested: scheduler.ingested })
  onTestFinished(async () => {
    await Promise.all([scheduler.stop(0), ingest.stop()])
    await intake.close()
    await close()
  })
  await until(() => sent.length > 0, 'the attempt is made')
  return sent[0]
}

const encryptionKey = Buffer.alloc(32, 1).toString('base64')

test.each([
  ['in plain text', []],
  ['encrypted', [encryptionKey]],
])('an attempt gets every attribute of the endpoint, with credentials %s', async (_, encryptionKeys) => {
  const record = await keyRing(encryptionKeys).seal(endpoint(url, values))
  expect(await attemptOf(record, encryptionKeys)).toMatchObject(values)
})
