/** A log with request ids, of the application and of the API. */
import { defineNitroPlugin } from 'nitro/runtime'
import { print } from '../community.js'

export default defineNitroPlugin((nitro) => {
  nitro.hooks.hook('request', ({ req }) => {
    req.context.id = req.headers.get('x-request-id') ?? crypto.randomUUID()
  })
  nitro.hooks.hook('response', (response, { req }) => {
    const { id } = req.context
    response.headers.set('x-request-id', id)
    print({ id, method: req.method, path: new URL(req.url).pathname, status: response.status })
  })
})
