import { operation } from '../operation.ts'
import { Network } from '../records/network.ts'

export const showNetwork = operation({
  id: 'network.show',
  method: 'GET',
  path: '/',
  scope: 'networks:read',
  summary: 'Show the network that the token belongs to.',
  description: 'A token opens one network. The path of any other one is a 404, whether it exists or not.',
  returns: Network,
  handle: async ({ network }) => network,
})
