/** The API: every path below `/admin/v1`. */
import { handle } from '@/community.js'

export const runtime = 'nodejs'
export const dynamic = 'force-dynamic'

export { handle as DELETE, handle as GET, handle as HEAD, handle as OPTIONS, handle as PATCH, handle as POST, handle as PUT }
