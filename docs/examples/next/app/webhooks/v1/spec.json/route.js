/** The document of the webhooks, a path of the API too. */
import { answer } from '@/community.js'

export const runtime = 'nodejs'
export const dynamic = 'force-dynamic'

export { answer as GET, answer as HEAD }
