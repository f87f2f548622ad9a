/** The community that the examples for Node, Bun and Deno mount. */
import { mkdirSync } from 'node:fs'
import process from 'node:process'
import { type Community, createCommunity, type Options } from 'folkmoot'
import { ports } from 'folkmoot/ports'
import { sqliteStorage } from 'folkmoot/storage/sqlite'

export const port = Number(process.env['PORT'] ?? 4000)
/** Only the proxy reaches the server, because `trustProxy` believes the headers of whoever calls. */
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

/** Writes one line of a log. */
export function print(line: object): void {
  console.log(JSON.stringify(line))
}

/** Ends the process when it is asked to: first the server, which finishes its requests, and then the community. */
export function closeOnSignal(community: Community, closeServer: () => unknown): void {
  process.once('SIGTERM', async () => {
    await closeServer()
    await community.close()
    process.exit(0)
  })
}
