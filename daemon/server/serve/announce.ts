/** What a server says once it is ready: a banner for people, or a line of JSON for programs. */
import { withPasswordLeftOut } from '../../../adapters/sql/postgres/address.ts'
import { withoutPassword } from '../../../lib/base/without-password.ts'
import type { Community } from '../../../lib/index.ts'
import { demoNetwork } from '../demo/made.ts'
import type { Demo } from '../demo/start.ts'
import { describePlan } from '../faults/plan.ts'
import type { Metrics } from '../operate/metrics.ts'
import type { PanelAddress } from '../panel/address.ts'
import type { MountedPanel } from '../panel/mount.ts'
import { banner } from './banner.ts'
import type { Starting } from './parts.ts'

export interface Announced {
  readonly community: Community
  readonly outbox: string
  readonly uploads: string
  readonly demo: Demo | undefined
  readonly metrics: Metrics | undefined
  readonly panel: MountedPanel
  readonly address: PanelAddress
  /** The control, if commands can reach the server. */
  readonly control: { readonly file: string } | undefined
}

export async function announce({ flags, faults, out, log, url }: Starting, ready: Announced): Promise<void> {
  const { demo, address, control } = ready
  const facts = {
    url,
    network_id: demo ? demoNetwork.id : null,
    subdomain: demo ? demoNetwork.subdomain : null,
    token: demo?.token ?? null,
    outbox: withPasswordLeftOut(ready.outbox),
    assets: ready.uploads,
    control: control?.file ?? null,
    // Others read standard output, too: without the demo, programs request a link over the control.
    panel: (demo || !flags.json) && address.closed === undefined ? ready.panel.link().url : null,
  }
  const forPeople = async () =>
    banner({
      ...facts,
      storage: withoutPassword(flags.storage),
      outbox: withoutPassword(ready.outbox),
      panelHint: address.hint ?? null,
      secured: Boolean(flags.tlsCert || flags.allowHttp || flags.trustProxy),
      receiver: demo?.receiver?.url ?? null,
      faults: faults ? describePlan(faults) : null,
      isEmpty: (await ready.community.networks.page({ limit: 1 })).items.length === 0,
      metrics: ready.metrics ? `http://127.0.0.1:${ready.metrics.port}/metrics` : null,
    })
  out.line(flags.json ? JSON.stringify({ ...facts, ...(faults ? { faults } : {}) }) : await forPeople())
  // People have read it in the banner.
  if (faults && flags.json) log.warn(describePlan(faults))
  if (!flags.publicUrl && (flags.tlsCert || flags.trustProxy))
    log.warn(
      '--public-url is missing: links and addresses of uploads use the name in each request; give the origin, such as https://api.example.org',
    )
}
