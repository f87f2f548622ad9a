import { memoryStore, respond } from 'folkmoot/receiver'

const options = { token: process.env.WEBHOOK_TOKEN, secrets: process.env.WEBHOOK_SECRET, store: memoryStore() }

export const POST = (request) => respond(request, options, ({ event }) => console.log(event.event_type))
