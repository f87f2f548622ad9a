import { defineHandler } from 'nitro/h3'

export default defineHandler(() => new Response('your 404', { status: 404 }))
