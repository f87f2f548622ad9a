/** After SIGTERM Nitro finishes its requests, and then the community is closed. */
import { defineNitroPlugin } from 'nitro/runtime'
import { community } from '../community.js'

export default defineNitroPlugin((nitro) => {
  nitro.hooks.hook('close', () => community.close())
})
