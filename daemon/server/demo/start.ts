/** The demo's additions to a server: the network, a token, and a receiver. */
import type { Community } from '../../../lib/index.ts'
import type { Storage } from '../../../lib/storage/contract.ts'
import type { Output } from '../../output.ts'
import { UsageError } from '../../usage.ts'
import type { Receiver } from '../http/receiver.ts'
import { ownCommand } from '../own-project.ts'
import { scroll } from '../serve/banner.ts'
import type { ServeFlags } from '../serve/serve-flags.ts'
import { demoNetwork } from './made.ts'
import { seedDemo } from './seed.ts'

export interface Demo {
  readonly token: string
  readonly receiver: Receiver | undefined
}

/**
 * @param keys of the endpoints in `--webhook-url`, in their order
 * @throws UsageError when its network is read-only: each start makes a token
 */
export async function startDemo(
  community: Community,
  storage: Storage,
  flags: ServeFlags,
  keys: readonly string[],
  out: Output,
): Promise<Demo> {
  const calls = community.by({ actor: 'folkmoot serve --demo' })
  if ((await community.networks.find(demoNetwork.id))?.read_only)
    throw new UsageError(
      `the network of the demo is read-only: take writes again by "${ownCommand()} networks update --no-read-only"`,
    )
  const token = await seedDemo(calls, storage)
  const ownReceiver = flags.relay && !flags.json && flags.webhookUrl.length === 0
  const receiver = ownReceiver ? await registerReceiver(calls, out) : undefined
  const order = flags.webhookOrder === undefined ? {} : { order: flags.webhookOrder }
  for (const [place, url] of flags.webhookUrl.entries())
    await calls.endpoints.upsert({ network: demoNetwork.id, url, token: keys[place] ?? '', ...order })
  return { token, receiver }
}

/** The built-in receiver of the demo, as an endpoint for every event. Receivers of earlier starts are gone with their ports. */
async function registerReceiver(community: Pick<Community, 'endpoints'>, out: Output): Promise<Receiver> {
  const { startReceiver } = await import('../http/receiver.ts')
  const key = crypto.randomUUID()
  const receiver = await startReceiver(key, (delivery) => out.line(scroll(delivery)))
  for (const { id, url } of await community.endpoints.list(demoNetwork.id))
    if (/^http:\/\/127\.0\.0\.1:\d+\/webhooks$/.test(url)) await community.endpoints.remove(demoNetwork.id, id)
  await community.endpoints.upsert({ network: demoNetwork.id, url: receiver.url, token: key })
  return receiver
}
