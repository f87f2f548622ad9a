import { community } from '@/community.js'

export const dynamic = 'force-dynamic'

export const GET = async () => Response.json({ inFlight: (await community()).inFlight() })
