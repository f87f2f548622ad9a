/**
 * Imported first by every entry that runs anywhere, so that an old Node ends with a sentence and not with a missing function.
 * Browsers, workers, Bun and Deno are left alone: some of them name a Node that they are like.
 */

interface Runtime {
  readonly process?: { readonly versions?: Readonly<Record<string, string | undefined>> }
  readonly navigator?: { readonly userAgent?: string }
}

/** As in package.json, `engines`. */
const oldest = [22, 19] as const

const { process: itself, navigator: named } = globalThis as Runtime
const { node, bun, deno } = itself?.versions ?? {}
// Node has a navigator since 21.
const isNode = node !== undefined && bun === undefined && deno === undefined && /^Node\.js|^$/.test(named?.userAgent ?? '')
const [major = 0, minor = 0] = node?.split('.').map(Number) ?? []
if (isNode && (major < oldest[0] || (major === oldest[0] && minor < oldest[1])))
  throw new Error(`folkmoot needs Node ${oldest.join('.')} or later, and this is Node ${node}: install a newer one`)
