import { uploadAt } from '@/community.js'

export const runtime = 'nodejs'
export const dynamic = 'force-dynamic'

export async function GET(request) {
  return (await uploadAt(new URL(request.url).pathname)) ?? new Response('your 404', { status: 404 })
}
