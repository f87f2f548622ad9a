import { defineNitroConfig } from 'nitro/config'

export default defineNitroConfig({ preset: 'node_server' })
