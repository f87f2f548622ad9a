import { memoryStore, respond } from 'folkmoot/receiver'

const options = { key: process.env.WEBHOOK_KEY, secrets: process.env.WEBHOOK_SECRET, store: memoryStore() }

export const POST = (request) => respond(request, options, ({ event }) => console.log(event.event_type))
