/** The document of the webhooks, a path of the API too. */
import { handle } from '@/community.js'

export const runtime = 'nodejs'
export const dynamic = 'force-dynamic'

export { handle as GET, handle as HEAD }
