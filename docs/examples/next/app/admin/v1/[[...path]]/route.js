/** The API: every path below `/admin/v1`. */
import { answer } from '@/community.js'

export const runtime = 'nodejs'
export const dynamic = 'force-dynamic'

export { answer as DELETE, answer as GET, answer as HEAD, answer as OPTIONS, answer as PATCH, answer as POST, answer as PUT }
