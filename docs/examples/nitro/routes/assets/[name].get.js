import { defineHandler } from 'nitro/h3'
import { uploadAt } from '../../community.js'

export default defineHandler(async (event) => (await uploadAt(event.url.pathname)) ?? new Response('your 404', { status: 404 }))
