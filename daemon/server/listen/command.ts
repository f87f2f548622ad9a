/** The options of `folkmoot listen`. */
import { type Command, Option } from 'commander'
import { list, onNetwork, port } from '../commands/common-options.ts'
import type { Running } from '../serve/serve.ts'
import type { ListenFlags } from './flags.ts'
import type { Terminal } from './listen.ts'

/** @param starting is given what runs, to end it with the process */
export function listenCommand(program: Command, terminal: Terminal, starting: (running: Promise<Running>) => void): void {
  onNetwork(program.command('listen'))
    .description('receive the webhooks of a network while you develop; the endpoint is removed at the end')
    .option('--forward-to <url>', 'your receiver, such as http://localhost:3000/webhooks; without it deliveries are only shown')
    .option('--events <types>', 'event types to receive, separated by commas; every event by default', list, [])
    .option('--headers <header>', "an additional header, such as 'x-tenant: 7'; repeatable", list, [])
    .option('--skip-verify', 'verify nothing: no signature, and no certificate of --forward-to')
    .option('--print-json', 'print the body of each delivery as it was sent, one per line; other lines go to standard error')
    .addOption(new Option('--output <form>', 'how deliveries are shown').choices(['compact', 'full']).default('compact'))
    .option('--port <number>', 'the port of the endpoint; a free one by default', port('--port'), 0)
    .option('--token <token>', 'the token of the endpoint, as your receiver expects it; made by default')
    .option('--token-file <file>', 'a file that holds the token; - is standard input')
    .option('--secret <secret>', 'the signing secret (whsec_…); made by default')
    .option('--secret-file <file>', 'a file that holds the signing secret; - is standard input')
    .action(async (flags: ListenFlags) => {
      const { listen } = await import('./listen.ts')
      const ending = new AbortController()
      const finished = listen(flags, terminal, ending.signal)
      const close = async () => {
        ending.abort()
        await finished
      }
      starting(Promise.resolve({ url: '', close }))
      await finished
    })
}
