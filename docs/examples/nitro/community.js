/** The community of the Nitro application. */
import { openCommunity } from '../community.ts'

export const community = await openCommunity()
