import type { Command } from 'commander'
import type { Output } from '../output.ts'
import { type ServeFlags, withServeFlags } from './flags.ts'
import { withStorage } from './options.ts'
import type { Running } from './serve.ts'

/** @param started is given the server that runs */
export function serveCommand(program: Command, out: Output, started: (running: Running) => void): void {
  withServeFlags(withStorage(program.command('serve')))
    .description('serve the API')
    .action(async (flags: ServeFlags) => {
      const { serve } = await import('./serve.ts')
      started(await serve(flags, out))
    })
}
