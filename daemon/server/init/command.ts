import { type Command, Option } from 'commander'
import type { Ask, Output } from '../../output.ts'
import { projectHosts, projectStorages } from './choices.ts'

export function initCommand(program: Command, out: Output, version: string, ask?: Ask): void {
  program
    .command('init')
    .description('write a small project into a new or empty folder: the API, its webhooks, and a test')
    .argument('<folder>')
    .addOption(new Option('--host <name>', 'what serves it; node by default').choices(projectHosts))
    .addOption(new Option('--storage <name>', 'where its data is kept; lowdb by default').choices(projectStorages))
    .option('--yes', 'take the defaults and ask nothing')
    .option('--json', 'print JSON for programs, and ask nothing')
    .action(async (folder: string, flags) => (await import('./init.ts')).init(folder, flags, version, out, ask))
}
