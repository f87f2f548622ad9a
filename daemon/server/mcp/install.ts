/** `folkmoot mcp --install`: writes the command into the configuration of an agent. */
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { homedir, platform } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { isObject, objectIn } from '../../../lib/base/json-object.ts'
import type { Output } from '../../output.ts'
import { UsageError } from '../../usage.ts'
import { tokenOf } from '../credentials/secrets.ts'
import type { McpFlags } from './mcp.ts'

/** Where an agent has its servers: a file, and the field in it. */
interface Place {
  readonly file: () => string
  readonly field: 'mcpServers' | 'servers'
}

type Json = Readonly<Record<string, unknown>>

const inProject =
  (...path: readonly string[]) =>
  () =>
    resolve(...path)

const desktop = (): string => {
  if (platform() === 'darwin') return join(homedir(), 'Library', 'Application Support', 'Claude')
  if (platform() === 'win32') return join(homedir(), 'AppData', 'Roaming', 'Claude')
  return join(homedir(), '.config', 'Claude')
}

const places: Readonly<Record<string, Place>> = {
  'claude-code': { file: inProject('.mcp.json'), field: 'mcpServers' },
  'claude-desktop': { file: () => join(desktop(), 'claude_desktop_config.json'), field: 'mcpServers' },
  cursor: { file: inProject('.cursor', 'mcp.json'), field: 'mcpServers' },
  gemini: { file: inProject('.gemini', 'settings.json'), field: 'mcpServers' },
  vscode: { file: inProject('.vscode', 'mcp.json'), field: 'servers' },
}

/** The command as an agent starts it, outside of a project too. Files are named whole: it may start anywhere. */
function commandOf({ url, network, tokenFile, write, only, relayControl, relayControlTokenFile }: McpFlags) {
  const option = (name: string, ...values: readonly (string | undefined)[]) =>
    values.some((value) => value !== undefined) ? [name, ...values.filter((value) => value !== undefined)] : []
  const path = (file: string | undefined) => file && resolve(file)
  return {
    command: 'npx',
    args: [
      ...['--yes', '--package=folkmoot', '--package=@modelcontextprotocol/server', 'folkmoot', 'mcp'],
      ...option('--url', url),
      ...option('--network', network),
      ...option('--token-file', path(tokenFile)),
      ...option('--write', ...write),
      ...option('--only', ...only),
      ...option('--relay-control', relayControl),
      ...option('--relay-control-token-file', path(relayControlTokenFile)),
    ],
  }
}

async function configurationIn(file: string, entry: string): Promise<Json> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '{}'
    throw new UsageError(`${file} cannot be read (${error.code})`)
  })
  const read = objectIn(text)
  if (read) return read
  throw new UsageError(`${file} is no JSON object, perhaps for its comments, and is left as it is. Put this in by hand: ${entry}`)
}

/**
 * Adds the command to the configuration of an agent, in place of one of the same name, and shows what it wrote. Everything else
 * in the file stays.
 * @throws UsageError that names the flag and the remedy
 */
export async function install(agent: string, flags: McpFlags, out: Output): Promise<void> {
  const place = places[agent]
  if (!place)
    throw new UsageError(`--install must be one of ${Object.keys(places).join(', ')}, got ${JSON.stringify(agent.slice(0, 60))}`)
  if (flags.tokenFile === undefined || flags.tokenFile === '-')
    throw new UsageError('--install needs --token-file: a token does not belong into the configuration of an agent')
  tokenOf('--token', undefined, flags.tokenFile, '--install')
  const file = place.file()
  const entry = { folkmoot: commandOf(flags) }
  const text = JSON.stringify(entry, null, 2)
  const configuration = await configurationIn(file, text)
  const servers = configuration[place.field] ?? {}
  if (!isObject(servers))
    throw new UsageError(`${file}: ${place.field} is no object, and is left as it is. Put this in by hand: ${text}`)
  const written = `${JSON.stringify({ ...configuration, [place.field]: { ...servers, ...entry } }, null, 2)}\n`
  try {
    await mkdir(dirname(file), { recursive: true })
    await writeFile(`${file}.unfinished`, written)
    await rename(`${file}.unfinished`, file)
  } catch (error) {
    throw new UsageError(`${file} cannot be written (${(error as NodeJS.ErrnoException).code})`)
  }
  out.line(`${file}, ${place.field}:`)
  out.line(text)
  out.warn(`${'folkmoot' in servers ? 'Replaced' : 'Added'} the server folkmoot. Start ${agent} again to use it.`)
}
