/** The options of `folkmoot serve`. */
import { type Command, Option } from 'commander'
import { orders } from '../../lib/outbox/values.ts'
import type { Output } from '../output.ts'
import type { ServeFlags } from './flags.ts'
import { list, port, withStorage } from './options.ts'
import type { Running } from './serve.ts'

/** @param started is given the server that runs */
export function serveCommand(program: Command, out: Output, started: (running: Running) => void): void {
  withStorage(program.command('serve'))
    .description('serve the API')
    .option('--json', 'print one line of JSON for programs; later lines on standard error are JSON, too')
    .option('--port <number>', 'the port; 0 takes a free one', port('--port'), 4000)
    .option('--host <address>', 'the address to listen on', '127.0.0.1')
    .option('--assets <directory>', 'the directory of uploads; beside the file by default')
    .option('--public-url <origin>', 'the origin that callers use, such as https://api.example.org, for links and uploads')
    .option('--allow-http', 'accept plain HTTP: for development; with --demo, webhooks and source_url reach this machine, too')
    .option('--trust-proxy', 'believe X-Forwarded-Proto and X-Forwarded-Host: only behind a proxy that sets them')
    .option('--tls-cert <file>', 'certificate, PEM')
    .option('--tls-key <file>', "the certificate's key, PEM")
    .addOption(new Option('--ids <type>', 'the JSON type of ids in answers and webhooks').choices(['string', 'number']))
    .option('--email-consent', 'new members have consented to commercial e-mail; without consent addresses stay hidden')
    .option('--access-log', 'a line of JSON for each request, without tokens, queries and bodies')
    .option('--metrics-port <number>', 'metrics for Prometheus on this port of 127.0.0.1', port('--metrics-port'))
    .option('--demo', 'make the demo network and a token; the token of the previous start stops working')
    .option('--relay', 'run the webhook relay in this process')
    .option('--webhook-url <url>', 'an endpoint of the demo network; repeatable, each with a key', list, [])
    .option('--webhook-key <key>', 'the key that it gets as bearer token; better in a file', list, [])
    .option('--webhook-key-file <file>', 'a file that holds the key; - is standard input', list, [])
    .addOption(new Option('--webhook-order <order>', 'the order in which these endpoints get their events').choices(orders))
    .action(async (flags: ServeFlags) => {
      const { serve } = await import('./serve.ts')
      started(await serve(flags, out))
    })
}
