/** The options of `backup` and `restore`. */
import type { Command } from 'commander'
import { withPlace } from '../commands/common-options.ts'
import type { ProgressHost } from '../commands/progress-line.ts'

const place = (command: Command): Command =>
  withPlace(command)
    .option('--assets <directory>', 'the directory of uploads; by default ./assets, or next to the file of the storage')
    .option('--json', 'print JSON for programs')

export function backupCommands(program: Command, host: ProgressHost): void {
  place(program.command('backup').argument('<file>', 'a new file'))
    .description('write a storage, its uploads and the state of its relay to one file, while they are in use')
    .action(async (file: string, flags) => (await import('./backup.ts')).backup(file, flags, host))
  place(program.command('restore').argument('<file>', 'of `backup`'))
    .description('make a new storage of a backup; nothing is sent until `endpoints enable --all`')
    .option('--send', 'let a relay send what waits, as soon as it is started')
    .action(async (file: string, flags) => (await import('./restore.ts')).restore(file, flags, host))
}
