/** Every adapter refuses anything but a community when the host starts. */
import { expect, test } from 'vitest'
import { communityPlugin } from '../../../adapters/http/fastify.ts'
import { communityMiddleware as honoMiddleware, panelMiddleware as honoPanel } from '../../../adapters/http/hono.ts'
import { communityMiddleware as koaMiddleware } from '../../../adapters/http/koa.ts'
import { communityMiddleware, panelMiddleware, toNodeListener } from '../../../adapters/http/node.ts'
import { createTestCommunity } from '../../support/community.ts'

test.each([
  ['toNodeListener', toNodeListener],
  ['communityMiddleware', communityMiddleware],
  ['communityMiddleware', koaMiddleware],
  ['communityMiddleware', honoMiddleware],
  ['communityPlugin', communityPlugin],
])('%s refuses a Promise and anything else that is no community', async (name, mount) => {
  const { community } = await createTestCommunity()
  for (const given of [undefined, null, {}, Promise.resolve(community)])
    expect(() => mount(given as never)).toThrow(
      `${name}: the first argument must be a community, as createCommunity returns it. If it is a Promise, await it first`,
    )
  expect(mount(community)).toBeInstanceOf(Function)
})

test.each([panelMiddleware, honoPanel])('panelMiddleware refuses what is no panel', (mount: (panel: never) => unknown) => {
  for (const given of [undefined, Promise.resolve(() => undefined)])
    expect(() => mount(given as never)).toThrow('panelMiddleware: the first argument must be a panel')
})
