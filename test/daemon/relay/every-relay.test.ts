/**
 * The tests of every relay as one file, for the project `relay-postgres` of `vitest.config.ts`: one worker loads what they
 * share, and makes the tables once.
 */
import { describe } from 'vitest'

const files: Readonly<Record<string, () => Promise<unknown>>> = {
  relay: () => import('./relay.test.ts'),
  'host-notices': () => import('./host-notices.test.ts'),
  erasure: () => import('./erasure.test.ts'),
  explain: () => import('./operate/explain.test.ts'),
  operator: () => import('./operate/operator.test.ts'),
  'relay-view': () => import('./operate/relay-admin.test.ts'),
  skip: () => import('./operate/skip.test.ts'),
  'backlog-of-a-subject': () => import('./schedule/backlog-of-a-subject.test.ts'),
  'open-circuit': () => import('./schedule/open-circuit.test.ts'),
  'reset-endpoint': () => import('./schedule/reset-endpoint.test.ts'),
  'set-aside': () => import('./schedule/set-aside.test.ts'),
  order: () => import('./schedule/order.test.ts'),
  encryption: () => import('./send/encryption.test.ts'),
  headers: () => import('./send/headers.test.ts'),
  filter: () => import('./ingest/filter.test.ts'),
  'allowed-addresses': () => import('./send/allowed-addresses.test.ts'),
  proxy: () => import('./send/proxy.test.ts'),
  'client-identities': () => import('./send/client-identities.test.ts'),
  rotation: () => import('./send/rotation.test.ts'),
}

for (const [name, load] of Object.entries(files))
  describe(name, async () => {
    await load()
  })
