/** The API: what is not for it goes on to the routes. */
import { defineHandler, HTTPResponse } from 'nitro/h3'
import { community } from '../community.js'

export default defineHandler(async (event) => {
  const response = await community.handle(event.req, { requestId: event.context.id })
  // The h3 of Nitro 3.0 passes on every request for which middleware returns a `Response` of status 404.
  return response && new HTTPResponse(response.body, response)
})
