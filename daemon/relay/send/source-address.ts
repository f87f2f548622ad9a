/** The address of this machine that connections are made from. */
import { createServer } from 'node:net'
import { SettingsError } from '../settings-error.ts'

/** Whether the machine has it: only the system knows, which also takes every address of a loopback range. @throws SettingsError */
export async function checkSourceAddress({ sourceAddress }: { readonly sourceAddress?: string }): Promise<void> {
  if (sourceAddress === undefined) return
  const server = createServer()
  const error = await new Promise<NodeJS.ErrnoException | undefined>((done) => {
    server.once('error', done)
    server.listen({ port: 0, host: sourceAddress, exclusive: true }, () => done(undefined))
  })
  await new Promise<void>((done) => server.close(() => done()))
  if (!error) return
  const remedy = 'give one that `ip address` lists'
  throw new SettingsError([
    `setting \`sourceAddress\` is not an address of this machine (${error.code ?? error.message}): ${remedy}`,
  ])
}
