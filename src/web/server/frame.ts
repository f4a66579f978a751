/** The frame around each dashboard page, its templates and assets. A flash message is shown once. */
import { readFileSync } from 'node:fs'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Instant } from '../../domain/model.ts'
import type { HtmlHelper } from '../../report/render/template-files.ts'
import { createCompiler, escapeHtml, readTemplateFiles } from '../../report/render/template-files.ts'
import { counted } from '../../report/words/numbers.ts'
import type { Store } from '../../store/db/store.ts'
import { bytes, type Clock, count, duration, NONE } from './format.ts'
import type { AddRoutes } from './server.ts'

export interface DashboardDeps {
  readonly store: Store
  readonly pages: DashboardPages
  readonly now: () => Date
  /** The IANA time zone of the installation, in which times are shown. */
  readonly timeZone: string
  /** True if users may run actions; false if no token is set. */
  readonly canAct: boolean
}

const PLACES = [
  { path: '/', name: 'Status' },
  { path: '/archive', name: 'Archive' },
  { path: '/agents', name: 'Agents' },
  { path: '/record', name: 'Record' },
  { path: '/annotations', name: 'Annotations' },
] as const

type Place = (typeof PLACES)[number]['path']

interface Frame {
  /** The heading of the page, which is also the title in the browser's tab. */
  readonly title: string
  readonly places: readonly { readonly path: string; readonly name: string; readonly isHere: boolean }[]
  /** The hidden fields of each form; null if the user may not send forms. */
  readonly acts: { readonly formToken: string; readonly back: string } | null
  readonly flash: Flash | null
  /** True if the page loads itself again every 30 seconds. */
  readonly isReloading?: boolean
}

/** @param place the path of the page in the navigation; null if the page is not in the navigation */
export function frameOf(
  { user, url }: Pick<FastifyRequest, 'user' | 'url'>,
  title: string,
  place: Place | null,
): Frame {
  const { formToken = null, flash = null } = user ?? {}
  return {
    title,
    places: PLACES.map(({ path, name }) => ({ path, name, isHere: path === place })),
    acts: formToken === null ? null : { formToken, back: url },
    flash,
  }
}

/** Returns the frame without navigation, for users who are not signed in. */
export function bareFrame(title: string): Frame {
  return { title, places: [], acts: null, flash: null }
}

/** Instants are shown by the clock that the page is filled in with. */
const HELPERS: Readonly<Record<string, HtmlHelper>> = {
  /** Shows an instant as a time of the day, or with its date. */
  timeAt: (at: Instant, { clock }: PageData) => timeHtml(at, clock.at(at)),
  /** Shows a past instant, such as `4 min ago`. */
  timeAgo: (at: Instant, { clock }: PageData) => timeHtml(at, clock.ago(at)),
  /** Shows a future instant, such as `in 3 h`. */
  timeUntil: (at: Instant, { clock }: PageData) => timeHtml(at, clock.until(at)),
  /** Shows a number, or a dash if it is not known. */
  number: (value: number | null) => escapeHtml(value === null ? NONE : count(value)),
  /** Shows a number of things, such as `3 messages`. */
  counted: (value: number, _: PageData, thing: unknown) => escapeHtml(counted(value, String(thing))),
  inBytes: (value: number) => escapeHtml(bytes(value)),
  /** Shows a duration in milliseconds; empty if it is not known. */
  lasted: (ms: number | null) => (ms === null ? '' : escapeHtml(duration(ms))),
  /** Shows a sentence with the parts in backticks as code, and its instants by the clock of the page, if it has one. */
  prose: (text: string, { clock }: Partial<PageData>) =>
    (clock?.within(text) ?? text)
      .split('`')
      .map((part, index) => (index % 2 === 1 ? `<code>${escapeHtml(part)}</code>` : escapeHtml(part)))
      .join(''),
}

interface PageData {
  readonly clock: Clock
}

function timeHtml(at: Instant, text: string): string {
  return `<time datetime="${escapeHtml(at)}">${escapeHtml(text)}</time>`
}

export interface DashboardPages {
  readonly stylesheet: string
  /** @throws LeadsheetError report_template */
  page(name: string): (view: object, frame: Frame, clock?: Clock) => string
}

const FOLDER = 'dashboard'
/** `{{> button}}` is `parts/button.hbs`, and `{{> status-head}}` is `status/head.hbs`. */
const PARTIALS = [
  { folder: `${FOLDER}/parts`, prefix: '' },
  { folder: `${FOLDER}/status`, prefix: 'status-' },
] as const

/** @throws LeadsheetError report_template */
export async function openDashboardPages(folder: string): Promise<DashboardPages> {
  const files = await readTemplateFiles(folder, null)
  const partials = new Map([
    ['frame', files.take(FOLDER, 'frame.hbs')] as const,
    ...PARTIALS.flatMap(({ folder: from, prefix }) =>
      files
        .list(from)
        .map((name) => [`${prefix}${name.replace(/\.hbs$/, '')}`, files.take(from, name)] as const),
    ),
  ])
  const compile = createCompiler('html', partials, HELPERS)
  const styles = files.list(FOLDER).filter((name) => name.endsWith('.css') && name !== 'dashboard.css')
  return {
    stylesheet: ['dashboard.css', ...styles.sort()].map((name) => files.take(FOLDER, name).text).join('\n'),
    page: (name) => {
      const fill = compile(files.take(FOLDER, `${name}.hbs`))
      return (view, frame, clock) => fill({ ...view, frame }, { clock })
    },
  }
}

/** Needs no sign-in. The picture is read at the start, because an upgrade may delete its file. */
export function assetRoutes({ stylesheet }: DashboardPages): AddRoutes {
  const icon = readFileSync(new URL('../browser/icon.svg', import.meta.url))
  return (app) => {
    app.get('/dashboard.css', (_, reply) => reply.type('text/css; charset=utf-8').send(stylesheet))
    app.get('/icon.svg', (_, reply) => reply.type('image/svg+xml').send(icon))
  }
}

/* The error page of the dashboard: a page for browsers, a line of text for other clients. */

export interface ErrorPage {
  readonly title: string
  readonly text: string
  /** The path that the button "Go on" opens; if absent, there is no button. */
  readonly next?: string
}

export type SendErrorPage = (
  request: FastifyRequest,
  reply: FastifyReply,
  status: number,
  page: ErrorPage,
) => FastifyReply

/** @throws LeadsheetError report_template */
export function createErrorPages(pages: DashboardPages): SendErrorPage {
  const fill = pages.page('error-page')
  return (request, reply, status, { title, text, next = null }) => {
    if (!wantsPage(request))
      return reply.code(status).type('text/plain; charset=utf-8').send(`${title}: ${text}\n`)
    // Signed-in users get the page frame so that they can navigate back.
    const frame = request.user === null ? bareFrame(title) : frameOf(request, title, null)
    return reply.code(status).type('text/html; charset=utf-8').send(fill({ title, text, next }, frame))
  }
}

/** Returns whether the client asks for HTML, as a browser does. */
export function wantsPage({ headers }: FastifyRequest): boolean {
  return headers.accept?.includes('text/html') ?? false
}

export interface Session {
  readonly id: string
  /** The secret from which the CSRF tokens of the session's forms are made. */
  readonly csrfSecret: string
}

export interface SignedInUser {
  /** The session of the user; null for machines, and if no token is set, because then nobody signs in. */
  readonly session: Session | null
  /** The CSRF token for the forms of the requested page; null without a session. */
  readonly formToken: string | null
  /** The result of the last action, shown once. */
  readonly flash: Flash | null
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Null on public pages. */
    user: SignedInUser | null
  }
}

export interface Flash {
  readonly text: string
  readonly isWrong: boolean
}

export type FlashStore = ReturnType<typeof createFlashStore>

// The maximum number of sessions whose message is kept. The oldest message is dropped first, because that
// session has probably ended.
const SESSIONS_MAX = 100

/** Keeps the message about an action until the same session requests the page that shows it. */
export function createFlashStore() {
  const waiting = new Map<string, { readonly path: string; readonly flash: Flash }>()
  return {
    /** @param path the path of the page that shows the message */
    put: (sessionId: string, path: string, flash: Flash): void => {
      waiting.delete(sessionId)
      waiting.set(sessionId, { path, flash })
      const [oldest] = waiting.keys()
      if (waiting.size > SESSIONS_MAX && oldest !== undefined) waiting.delete(oldest)
    },
    /** Returns the message for the page and forgets it; null if there is none. */
    take: (sessionId: string, path: string): Flash | null => {
      const found = waiting.get(sessionId)
      if (found?.path !== path) return null
      waiting.delete(sessionId)
      return found.flash
    },
  }
}
