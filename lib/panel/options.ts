/** The options of the panel, and their rules. */
import * as v from 'valibot'
import { type Clock, systemClock } from '../base/clock.ts'
import { callable, checkedOptions, instance, must, type RulesOf, rejectUndefined, withMethods } from '../base/options.ts'
import { reporterOf } from '../kernel/report.ts'
import { isPath, isPublicUrl } from '../options.ts'
import type { RelayAdmin } from '../relay/relay-admin.ts'
import type { FaultContext, Report } from '../settings.ts'
import type { Authorize } from './request/access.ts'
import type { Brand } from './ui/brand.ts'

/** The options of `createPanel`. */
export interface PanelOptions<Host = void> {
  /** Decides about each request. Required: without a visitor the panel is closed. */
  readonly authorize: Authorize<Host>
  /** The relay, for deliveries and the state of endpoints. Without it the panel shows that there is no relay. */
  readonly relay?: RelayAdmin
  /** The path at which requests for the panel arrive: `/admin/panel` by default, `''` for every path. */
  readonly basePath?: string
  /**
   * The public address, such as `https://example.org`. Only its origin counts: forms of browsers without `Sec-Fetch-Site` must
   * come from it. By default the origin of the request.
   */
  readonly publicUrl?: string
  /** The name and the look of your product, in place of folkmoot's. */
  readonly brand?: Brand
  /** Fields of bodies that are shown as dots, by name and at every depth: `['email', 'location']`. */
  readonly maskedFields?: readonly string[]
  /**
   * Milliseconds that `authorize`, and a call of the relay, may take: 20,000 by default. A whole page may take three times as
   * long. A 504 follows after that.
   */
  readonly timeoutMs?: number
  /**
   * Where the panel posts when the visitor signs out: a path of the same origin, `/sign-out`, or one below the panel,
   * `logout`. Without it there is no such button.
   */
  readonly signOut?: string
  /**
   * Where a visitor without a session is sent when opening a page: a path such as `/sign-in`, or a whole address. `return_to` in its
   * query is the page to come back to. Without it they get a 403.
   */
  readonly signIn?: string
  /**
   * Reads the one file of `@scalar/api-reference`: `scalarFile()` of `folkmoot/node`. With it the API reference has a page on which
   * operations can be tried. It is read when that page is opened.
   */
  readonly scalar?: () => Promise<Uint8Array>
  /** The source of the time; the system's clock by default. For tests. */
  readonly clock?: Clock
  /** Called for every fault, such as a storage that fails. `console.error` by default. */
  readonly onError?: (error: unknown, about: FaultContext) => void
}

/** Checked options. */
export interface PanelSettings {
  readonly relay: RelayAdmin | undefined
  readonly basePath: string
  readonly origin: string | undefined
  readonly brand: Brand
  readonly masked: ReadonlySet<string>
  readonly timeoutMs: number
  readonly signOut: string | undefined
  readonly signIn: string | undefined
  readonly scalar: (() => Promise<Uint8Array>) | undefined
  readonly clock: Clock
  readonly report: Report
}

const relayCalls = ['status', 'activity', 'list', 'count', 'get', 'resend', 'progress', 'stop', 'test', 'closeCircuit']
const name = v.pipe(
  v.string(must('be a text')),
  v.minLength(1, must('not be empty')),
  v.maxLength(60, must('have at most 60 characters')),
)
const logo = v.custom<string>(
  (text) => typeof text === 'string' && /^(?:data:image\/|\/(?!\/))[\x21-\x7e]{1,100000}$/.test(text),
  must('be an image as a `data:` URL, or a path such as /logo.svg'),
)
const accent = v.custom<string>(
  (text) => typeof text === 'string' && /^#[0-9a-f]{6}$/i.test(text),
  must('be a colour such as #336699'),
)
const names = v.custom<readonly string[]>(
  (list) => Array.isArray(list) && list.length <= 1000 && list.every((each) => typeof each === 'string'),
  must('be a list of names of fields'),
)
const milliseconds = v.custom<number>(
  (given) => Number.isInteger(given) && Number(given) >= 1 && Number(given) <= 600_000,
  must('be a whole number of milliseconds from 1 to 600000'),
)
const signOut = v.custom<string>(
  (text) => typeof text === 'string' && /^(?!\/\/)[\w/][\w./~-]{0,500}$/.test(text),
  must('be a path such as /sign-out, or one below the panel such as logout'),
)
const signIn = v.custom<string>(
  (text) => typeof text === 'string' && /^(?:\/(?!\/)|https?:\/\/(?=\w))[\w./~?&=%:-]{0,500}$/.test(text),
  must('be a path such as /sign-in, or the address of a page'),
)

const rules = {
  authorize: callable<Authorize<never>>(),
  relay: rejectUndefined(
    v.optional(withMethods<RelayAdmin>([...relayCalls, 'enable', 'disable'])),
    'deliveries would not be shown (`admin` of `await startRelay(…)`)',
  ),
  basePath: v.optional(v.custom<string>(isPath, must("be '' or the path of a URL without a trailing slash")), '/admin/panel'),
  publicUrl: v.optional(
    v.custom<string>(isPublicUrl, must('be an address such as https://example.org, without a trailing slash')),
  ),
  brand: v.optional(instance<Brand>({ name: v.optional(name), logo: v.optional(logo), accent: v.optional(accent) }), {}),
  maskedFields: rejectUndefined(v.optional(names, []), 'no field would be masked'),
  timeoutMs: v.optional(milliseconds, 20_000),
  signOut: v.optional(signOut),
  signIn: v.optional(signIn),
  scalar: v.optional(callable<() => Promise<Uint8Array>>()),
  clock: v.optional(withMethods<Clock>(['now']), systemClock),
  onError: v.optional(callable<NonNullable<PanelOptions['onError']>>()),
} satisfies RulesOf<PanelOptions<never>>

/**
 * Checks the options and fills in the defaults.
 * @throws TypeError that lists every problem
 */
export function panelSettings(given: PanelOptions<never>): PanelSettings {
  if (typeof given !== 'object' || given === null)
    throw new TypeError('createPanel: the options must be an object with at least `authorize`')
  const { problems, options } = checkedOptions('option', rules, given)
  if (problems.length > 0) throw new TypeError(`createPanel: ${problems.join('; ')}`)
  const { relay, basePath, publicUrl, brand, maskedFields, timeoutMs, signOut, signIn, scalar, clock, onError } = options
  return {
    ...{ relay, basePath, brand, timeoutMs, signOut, signIn, scalar, clock },
    origin: publicUrl === undefined ? undefined : new URL(publicUrl).origin,
    masked: new Set(maskedFields.map((field) => field.toLowerCase())),
    report: reporterOf(onError),
  }
}
