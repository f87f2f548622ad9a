import type { Command } from 'commander'
import type { Output } from '../../output.ts'
import { withStorage } from '../commands/common-options.ts'
import type { Running } from './serve.ts'
import { type ServeFlags, withServeFlags } from './serve-flags.ts'

/** @param starting is given the server that starts: a signal may come before it has */
export function serveCommand(
  program: Command,
  out: Output,
  starting: (running: Promise<Running>) => void,
  version: string,
): void {
  withServeFlags(withStorage(program.command('serve')))
    .description('serve the API')
    .action(async (flags: ServeFlags) => {
      const { serve } = await import('./serve.ts')
      const running = serve(flags, out, version)
      starting(running)
      await running
    })
}
