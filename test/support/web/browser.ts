/**
 * A real Chromium for looking at pages. Where the machine has none, tests that need it are skipped and say so;
 * on a build server, where nobody would notice, they fail.
 */
import { type Browser, chromium, type Page } from 'playwright-core'
import { findInstalled, isSkippedButInCi } from '../process/programs.ts'

const CHROMIUM = findInstalled('/usr/bin/chromium')
/** For what a page is waited for; it is longer than a busy machine makes anybody wait. */
const WITHIN_MS = 120_000
const ARGUMENTS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

/**
 * For tests in which a sandboxed frame goes from one page to another: where each of them has a process of its own, the
 * driver now and then looks into the one before for ever, on a busy machine in 3 of 40 tries.
 */
export const FRAMES_IN_PROCESS: readonly string[] = [
  '--disable-features=IsolateSandboxedIframes,PaintHolding',
]

/** False where there is no Chromium; for `describe.skipIf(!hasBrowser())`. */
export function hasBrowser(): boolean {
  const remedy = CHROMIUM === null ? 'apt-get install chromium fonts-dejavu-core' : null
  return !isSkippedButInCi('pages and mails in a browser', remedy)
}

/** Headless, with a profile of its own that is thrown away, and with these command line arguments too. */
export async function openBrowser(more: readonly string[] = []): Promise<Browser> {
  if (CHROMIUM === null) throw new Error('Chromium is not installed')
  const browser = await chromium.launch({
    ...{ executablePath: CHROMIUM, args: [...ARGUMENTS, ...more], headless: true },
    timeout: WITHIN_MS,
  })
  browser.on('context', (context) => context.setDefaultTimeout(WITHIN_MS))
  return browser
}

export interface Look {
  readonly width: number
  readonly scheme: 'light' | 'dark'
}

/** An empty page, cut off from any network; `setContent` fills it. */
export async function openPage(browser: Browser, { width, scheme }: Look): Promise<Page> {
  return browser.newPage({ viewport: { width, height: 900 }, colorScheme: scheme, offline: true })
}
