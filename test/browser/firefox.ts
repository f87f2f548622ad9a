/** Debian's Firefox, where it is installed. Playwright drives only a Firefox of its own, so a page sends its result to the test. */
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import process from 'node:process'
import { text } from 'node:stream/consumers'

const executablePath = '/usr/bin/firefox-esr'
export const isFirefoxInstalled = existsSync(executablePath)

/** Nothing is loaded but the page. */
const preferences = [
  ...['app.update.enabled', 'datareporting.policy.dataSubmissionEnabled', 'network.captive-portal-service.enabled'],
  ...['network.connectivity-service.enabled', 'browser.safebrowsing.malware.enabled', 'browser.safebrowsing.phishing.enabled'],
  'extensions.update.enabled',
].map((name) => `user_pref("${name}", false);`)

/**
 * Opens a page in Firefox.
 * @param script a module; it ends with the value of its default export, which it has to await
 * @param directory an empty one, for the profile of the browser
 * @returns that value, or the text of the error
 * @throws Error if Firefox ends without one
 */
export async function runInFirefox(script: string, directory: string): Promise<unknown> {
  const result = Promise.withResolvers<unknown>()
  const page = `<!doctype html><script type="module">
const send = (value) => fetch('/result', { method: 'POST', body: JSON.stringify(value) })
import('/page.js').then((page) => page.default).then(send, (error) => send(String(error) + error.stack))
</script>`
  const server = createServer(async (request, response) => {
    if (request.url === '/result') result.resolve(JSON.parse(await text(request)))
    const isScript = request.url === '/page.js'
    response.writeHead(200, { 'content-type': isScript ? 'text/javascript' : 'text/html' })
    response.end(isScript ? script : page)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  await writeFile(join(directory, 'user.js'), preferences.join('\n'))
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  const args = ['--headless', '--no-remote', '--profile', directory, address]
  const env = { ...process.env, HOME: directory, MOZ_HEADLESS: '1' }
  // A group of its own: it has processes of its own.
  const browser = spawn(executablePath, args, { env, detached: true, stdio: 'ignore' })
  const ended = new Promise<void>((resolve) => browser.on('close', () => resolve()))
  void ended.then(() => result.reject(new Error('Firefox ended before the page had a result')))
  try {
    return await result.promise
  } finally {
    if (browser.pid !== undefined && browser.exitCode === null) process.kill(-browser.pid, 'SIGKILL')
    await ended
    server.closeAllConnections()
    server.close()
  }
}
