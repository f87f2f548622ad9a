/** The community of the Next application. */
import { existsSync, mkdirSync, openAsBlob } from 'node:fs'
import { createCommunity } from 'folkmoot'
import { ports } from 'folkmoot/ports'
import { sqliteStorage } from 'folkmoot/storage/sqlite'

const directory = process.env.DATA ?? './data'

async function open() {
  mkdirSync(directory, { recursive: true })
  return createCommunity({
    storage: await sqliteStorage({ path: `${directory}/community.sqlite` }),
    // The path of the directory that has `admin/v1`, such as `/community` for `app/community/admin/v1`.
    basePath: process.env.BASE_PATH ?? '',
    // A proxy terminates TLS and sets X-Forwarded-Proto, X-Forwarded-Host and X-Forwarded-Prefix.
    trustProxy: true,
    ports: ports({ assets: { directory: `${directory}/assets`, baseUrl: '/assets' } }),
    hooks: { onError: (error, context) => print({ fault: String(error), ...context }) },
  })
}

/** One for the process: Next evaluates this module several times, also while it builds. */
export const community = () => {
  globalThis.community ??= open()
  return globalThis.community
}

/** Handles the routes of the API. */
export async function handle(request) {
  const id = request.headers.get('x-request-id') ?? crypto.randomUUID()
  const response = (await (await community()).handle(request, { requestId: id })) ?? new Response('your 404', { status: 404 })
  response.headers.set('x-request-id', id)
  print({ id, method: request.method, path: new URL(request.url).pathname, status: response.status })
  return response
}

/** Types that a browser may show. It downloads all others, because strangers have sent the files. */
const shown = { gif: 'image/gif', jpg: 'image/jpeg', mp4: 'video/mp4', png: 'image/png', webp: 'image/webp' }

/** The upload at a path, such as `/assets/0d9f.png`; `undefined` if there is none. */
export async function uploadAt(path) {
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
export function print(line) {
  console.log(JSON.stringify(line))
}
