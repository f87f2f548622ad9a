/**
 * Debian's Chromium, where it is installed. The types of playwright-core need those of the DOM, which this project does not load:
 * so the few calls that tests make are declared here.
 */
import { existsSync } from 'node:fs'

export interface Locator {
  first(): Locator
  click(): Promise<void>
  check(): Promise<void>
  fill(text: string): Promise<void>
  count(): Promise<number>
  textContent(): Promise<string | null>
  getAttribute(name: string): Promise<string | null>
  waitFor(): Promise<void>
}

export interface Page {
  goto(url: string): Promise<{ status(): number } | null>
  url(): string
  reload(): Promise<unknown>
  goBack(): Promise<unknown>
  title(): Promise<string>
  locator(selector: string): Locator
  getByRole(role: string, options?: { readonly name: string }): Locator
  getByLabel(text: string, options?: { readonly exact: boolean }): Locator
  getByText(text: string): Locator
  /** Runs an expression in the page. */
  evaluate(expression: string): Promise<unknown>
  screenshot(options: { readonly path: string; readonly fullPage?: boolean }): Promise<unknown>
  waitForResponse(url: RegExp): Promise<{ status(): number }>
  route(
    url: string,
    answer: (route: { fulfill(given: { contentType: string; body: string }): Promise<void> }) => unknown,
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
  readonly viewport?: { readonly width: number; readonly height: number }
  readonly timezoneId?: string
  readonly locale?: string
}

export interface Context {
  newPage(): Promise<Page>
  cookies(): Promise<readonly object[]>
  close(): Promise<void>
}

export interface Browser {
  newContext(options?: ContextOptions): Promise<Context>
  close(): Promise<void>
}

interface Playwright {
  readonly chromium: { launch(options: { executablePath: string; args: string[] }): Promise<Browser> }
}

export const executablePath = '/usr/bin/chromium'
export const isInstalled = existsSync(executablePath)

const flags =
  '--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking --disable-component-update --disable-sync'

export async function launch(): Promise<Browser> {
  // A name that the compiler does not follow.
  const name: string = 'playwright-core'
  const { chromium } = (await import(name)) as Playwright
  return chromium.launch({ executablePath, args: flags.split(' ') })
}
