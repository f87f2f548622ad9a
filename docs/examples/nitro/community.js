/** The community of the Nitro application. `community.ts` is in the directory above this one. */
import { openCommunity } from '../community.ts'

export { print, uploadAt } from '../community.ts'
export const community = await openCommunity()
