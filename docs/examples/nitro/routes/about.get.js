import { defineHandler } from 'nitro/h3'
import { community } from '../community.js'

export default defineHandler(() => ({ inFlight: community.inFlight() }))
