/** The community that the examples for Node, Bun and Deno mount. */
import { existsSync, mkdirSync, openAsBlob } from 'node:fs'
import process from 'node:process'
import { type Community, createCommunity, type Options } from 'folkmoot'
import { ports } from 'folkmoot/ports'
import { sqliteStorage } from 'folkmoot/storage/sqlite'

export const port = Number(process.env['PORT'] ?? 4000)
/** Only the proxy reaches the server, because `trustProxy` trusts the headers of every caller. */
export const host = '127.0.0.1'
const directory = process.env['DATA'] ?? './data'

/** @param log writes a fault, with the `request_id` that its client received */
export async function openCommunity(log: (fault: object) => void = print): Promise<Community> {
  mkdirSync(directory, { recursive: true })
  const options: Options = {
    storage: await sqliteStorage({ path: `${directory}/community.sqlite` }),
    // The path below which the API is mounted, such as `/community`.
    basePath: process.env['BASE_PATH'] ?? '',
    // A proxy terminates TLS and sets X-Forwarded-Proto, X-Forwarded-Host and X-Forwarded-Prefix.
    trustProxy: true,
    ports: ports({ assets: { directory: `${directory}/assets`, baseUrl: '/assets' } }),
    hooks: { onError: (error, context) => log({ fault: String(error), ...context }) },
  }
  return createCommunity(options)
}

/** Types that a browser may show. It downloads all others, because strangers have sent the files. */
const shown: Readonly<Record<string, string>> = {
  gif: 'image/gif',
  jpg: 'image/jpeg',
  mp4: 'video/mp4',
  png: 'image/png',
  webp: 'image/webp',
}

/** The upload at a path, such as `/assets/0d9f.png`; `undefined` if there is none. */
export async function uploadAt(path: string): Promise<Response | undefined> {
  const [, name, extension = ''] = /^\/assets\/([\w-]+(?:\.\w+)*\.(?!part$)(\w+))$/.exec(path) ?? []
  if (name === undefined || !existsSync(`${directory}/assets/${name}`)) return undefined
  const file = await openAsBlob(`${directory}/assets/${name}`)
  const type = shown[extension]
  const headers = new Headers({ 'content-type': type ?? 'application/octet-stream', 'content-length': String(file.size) })
  headers.set('x-content-type-options', 'nosniff')
  if (type === undefined) headers.set('content-disposition', 'attachment')
  return new Response(file, { headers })
}

/** Writes one line of a log. */
export function print(line: object): void {
  console.log(JSON.stringify(line))
}

/** Shuts the process down on SIGTERM: first the server, which finishes its requests, and then the community. */
export function closeOnSignal(community: Community, closeServer: () => unknown): void {
  process.once('SIGTERM', async () => {
    await closeServer()
    await community.close()
    process.exit(0)
  })
}
