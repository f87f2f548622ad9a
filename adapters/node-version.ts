/**
 * Imported first by every entry that needs Node, so that an old Node ends with a sentence and not with a missing function. Bun
 * and Deno name the Node that they are like.
 */
import { versions } from 'node:process'

/** As in package.json, `engines`. */
const oldest = [22, 19] as const

const [major = 0, minor = 0] = versions.node.split('.').map(Number)
if (major < oldest[0] || (major === oldest[0] && minor < oldest[1]))
  throw new Error(`folkmoot needs Node ${oldest.join('.')} or later, and this is Node ${versions.node}: install a newer one`)
