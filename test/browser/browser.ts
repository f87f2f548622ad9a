/**
 * Debian's Chromium, where it is installed. The types of playwright-core need those of the DOM, which this project does not load:
 * so the few calls that tests make are declared here.
 */
import { existsSync } from 'node:fs'

interface UploadedFile {
  readonly name: string
  readonly mimeType: string
  readonly buffer: Uint8Array
}

export interface Locator {
  first(): Locator
  last(): Locator
  locator(selector: string): Locator
  click(): Promise<void>
  check(): Promise<void>
  fill(text: string): Promise<void>
  selectOption(value: string): Promise<unknown>
  setInputFiles(file: UploadedFile): Promise<void>
  count(): Promise<number>
  textContent(): Promise<string | null>
  getAttribute(name: string): Promise<string | null>
  waitFor(options?: { readonly state?: 'detached'; readonly timeout?: number }): Promise<void>
}

export interface Page {
  goto(url: string): Promise<{ status(): number } | null>
  url(): string
  reload(): Promise<unknown>
  emulateMedia(options: { readonly colorScheme: 'light' | 'dark' }): Promise<void>
  setViewportSize(size: { readonly width: number; readonly height: number }): Promise<void>
  goBack(): Promise<unknown>
  title(): Promise<string>
  locator(selector: string): Locator
  getByRole(role: string, options?: { readonly name: string | RegExp }): Locator
  getByLabel(text: string, options?: { readonly exact: boolean }): Locator
  getByText(text: string): Locator
  /** Runs an expression in the page. */
  evaluate(expression: string): Promise<unknown>
  screenshot(options: { readonly path: string; readonly fullPage?: boolean }): Promise<unknown>
  waitForResponse(url: RegExp): Promise<{ status(): number }>
  waitForEvent(event: 'download'): Promise<{ suggestedFilename(): string }>
  waitForEvent(event: 'filechooser'): Promise<{ setFiles(file: UploadedFile): Promise<void> }>
  route(
    url: string,
    response: (route: { fulfill(given: { contentType: string; body: string }): Promise<void> }) => unknown,
  ): Promise<unknown>
  on(event: 'request', listener: (request: { url(): string }) => void): unknown
  on(event: 'pageerror', listener: (error: Error) => void): unknown
  on(event: 'console', listener: (message: { text(): string }) => void): unknown
  readonly keyboard: { press(key: string): Promise<void>; type(text: string): Promise<void> }
}

export interface ContextOptions {
  readonly javaScriptEnabled?: boolean
  readonly bypassCSP?: boolean
  readonly ignoreHTTPSErrors?: boolean
  readonly colorScheme?: 'light' | 'dark'
  readonly reducedMotion?: 'reduce'
  readonly viewport?: { readonly width: number; readonly height: number }
  readonly timezoneId?: string
  readonly locale?: string
}

export interface Context {
  newPage(): Promise<Page>
  /** Runs a script in every page before its own. */
  addInitScript(script: { readonly content: string }): Promise<unknown>
  cookies(): Promise<readonly object[]>
  /** Milliseconds that a page may take to load, and an element to appear. */
  setDefaultTimeout(timeout: number): void
  close(): Promise<void>
}

export interface Browser {
  newContext(options?: ContextOptions): Promise<Context>
  close(): Promise<void>
}

interface Playwright {
  readonly chromium: {
    launch(options: LaunchOptions): Promise<Browser>
    launchServer(options: LaunchOptions): Promise<BrowserServer>
    connect(address: string): Promise<Browser>
  }
}

interface LaunchOptions {
  readonly executablePath: string
  readonly args: readonly string[]
}

interface BrowserServer {
  wsEndpoint(): string
  close(): Promise<void>
}

export const executablePath = '/usr/bin/chromium'
export const isInstalled = existsSync(executablePath)
// Every file that needs the browser loads this one.
if (!isInstalled) console.warn(`LEFT OUT: tests in a browser, because there is no ${executablePath}. .ci/run installs it.`)

const flags =
  '--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking --disable-component-update --disable-sync'

const options: LaunchOptions = { executablePath, args: flags.split(' ') }

async function playwright(): Promise<Playwright> {
  // A name that the compiler does not follow.
  const name: string = 'playwright-core'
  return (await import(name)) as Playwright
}

/** A browser for the caller alone. */
export const launch = async (): Promise<Browser> => (await playwright()).chromium.launch(options)

/** A browser for the test files of a run. */
export const launchShared = async (): Promise<BrowserServer> => (await playwright()).chromium.launchServer(options)

/** The browser of the run. Its contexts are the caller's own; closing it closes those alone. */
export async function connect(address: string): Promise<Browser> {
  const browser = await (await playwright()).chromium.connect(address)
  return {
    async newContext(options) {
      const context = await browser.newContext(options)
      // A busy machine may take long to draw a page of many scripts.
      context.setDefaultTimeout(120_000)
      return context
    },
    close: () => browser.close(),
  }
}

/** Faults of a page's script and violations of its policy, as they come. */
export function errorsOf(page: Page): string[] {
  const errors: string[] = []
  page.on('pageerror', ({ message }) => errors.push(message))
  page.on('console', (message) => {
    if (/Content Security Policy/.test(message.text())) errors.push(message.text())
  })
  return errors
}
