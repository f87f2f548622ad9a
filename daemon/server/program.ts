/** The command line of the server. A command's modules are loaded when it runs, so that help and usage errors come without delay. */
import { Readable } from 'node:stream'
import { Command } from 'commander'
import { handOverKeys } from '../encryption-keys.ts'
import { groupHelp } from '../help.ts'
import { hintAtHelp, hintAtOtherProgram } from '../help-hint.ts'
import { usageLine } from '../json.ts'
import { type Ask, type Output, type Paint, unpainted } from '../output.ts'
import { applyEnvPrecedence, variableOption } from '../variables.ts'
import { backupCommands } from './backup/program.ts'
import { storageForms } from './commands/common-options.ts'
import {
  auditCommands,
  endpointCommands,
  exportCommand,
  infoCommand,
  initCommand,
  keyCommands,
  memberCommands,
  networkCommands,
  orderCommands,
  panelLinkCommand,
  triggerCommand,
} from './commands/program.ts'
import { listenCommand } from './listen/command.ts'
import { mcpCommand } from './mcp/command.ts'
import { movingCommands } from './moving/program.ts'
import type { Running } from './serve/serve.ts'
import { serveCommand } from './serve/serve-command.ts'

/** The parts of the process that commands may use. */
export interface Host {
  readonly out: Output
  /** Whether errors are JSON. */
  readonly json: boolean
  readonly paintError?: Paint
  /** Shows how far something is, over and over in one line; left out where no one looks. */
  readonly draw?: ((line: string) => void) | undefined
  /** Calls for each key that is pressed, until the returned function is called. */
  readonly keys?: (pressed: (key: string) => void) => () => void
  /** Standard input, for a command that reads it; empty by default. */
  readonly input?: () => Readable
  /** Asks the person at the terminal a question; left out where there is none. */
  readonly ask?: Ask | undefined
  /** Sets the exit code 1: the command has done its work, and its result is a bad one. */
  readonly failed: () => void
  readonly version: string
  /** The content of the variable of the encryption keys. */
  readonly encryptionKeys?: string | undefined
  /** Is given the server or listener as soon as it begins to start, and ends it with the process. */
  readonly starting: (running: Promise<Running>) => void
}

export function createProgram({
  out,
  json,
  paintError,
  draw,
  keys = () => () => {},
  input = () => Readable.from([]),
  ask,
  failed,
  starting,
  version,
  encryptionKeys,
}: Host): Command {
  const { paint = unpainted } = out
  const program = new Command('folkmoot')
    .description('A community-network Admin API server.')
    .version(version, '--version', 'print the version')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => out.line(text.trimEnd()),
      writeErr: (text) => out.warn(text.trimEnd()),
      outputError: (text, write) => write(usageLine('folkmoot', text, json, paintError)),
    })
    .configureHelp({ styleTitle: (title) => paint('bold', title) })

  handOverKeys(program, encryptionKeys)
  applyEnvPrecedence(program)
  // In the order of the help.
  serveCommand(program, out, starting, version)
  initCommand(program, out, version, ask)
  panelLinkCommand(program, out)
  infoCommand(program, out, version)

  networkCommands(program, out)
  keyCommands(program, out)
  auditCommands(program, out, draw)

  memberCommands(program, out, ask, draw)
  orderCommands(program, out)

  endpointCommands(program, out)
  triggerCommand(program, out)
  listenCommand(program, { out, keys }, starting)

  backupCommands(program, { out, draw })
  exportCommand(program, out, draw)
  program
    .command('copy')
    .description('copy a whole storage into an empty one, or one network into any; resumes after an interruption')
    .requiredOption('--from <address>', storageForms)
    .requiredOption('--to <address>', storageForms)
    .option('--network <id or subdomain>', 'only this network, which must be read-only; with its keys and endpoints')
    .option('--json', 'print JSON for programs')
    .action(async (flags) => (await import('./storage/copy.ts')).copy(flags, out, draw))
  program
    .command('migrate')
    .description('bring the tables of a database to this version; servers do it by themselves when they start')
    .addOption(variableOption('--storage <address>', 'sqlite:PATH or postgres://…').makeOptionMandatory())
    .option('--dry-run', 'print the statements, and run none')
    .option('--json', 'print JSON for programs')
    .action(async (flags) => (await import('./storage/migrate.ts')).migrate(flags, out))
  movingCommands(program, { out, draw, failed })

  mcpCommand(program, { out, input, failed }, starting)
  program
    .command('spec')
    .description('print the OpenAPI document')
    .option('--webhooks', 'of the webhooks')
    .action(async (flags) => (await import('./commands/print-spec.ts')).printSpec(flags, out))
  groupHelp(program, 'folkmoot', paint)
  hintAtOtherProgram(program, 'folkmoot', json, paintError)
  if (!json) hintAtHelp(program)
  return program
}
