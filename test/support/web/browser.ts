/**
 * A real Chromium for tests of pages. If it is not installed, its tests are skipped with a message; on a
 * build server they fail.
 */
import { type Browser, chromium, type Page } from 'playwright-core'
import { findInstalled, isSkippedButInCi } from '../process/programs.ts'

const CHROMIUM = findInstalled('/usr/bin/chromium')
/** The time limit for waiting. It is longer than any wait on a busy machine. */
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
 * False if Chromium is not installed. For `describe.skipIf(!hasBrowser)`. Such a condition is no function, because
 * `skipIf(!aFunction)` never skips, and the type check says nothing of it.
 */
export const hasBrowser = !isSkippedButInCi(
  'pages and mails in a browser',
  CHROMIUM === null ? 'apt-get install chromium fonts-dejavu-core' : null,
)

/**
 * Opens a headless browser with a new profile and these additional arguments. The profile is deleted
 * afterwards.
 */
export async function openBrowser(more: readonly string[] = []): Promise<Browser> {
  if (CHROMIUM === null) throw new Error('Chromium is not installed')
  const browser = await chromium.launch({
    executablePath: CHROMIUM,
    args: [...ARGUMENTS, ...more],
    headless: true,
    timeout: WITHIN_MS,
  })
  browser.on('context', (context) => context.setDefaultTimeout(WITHIN_MS))
  return browser
}

export interface Look {
  readonly width: number
  readonly scheme: 'light' | 'dark'
}

/** Opens an empty page without network access. `setContent` fills it. */
export async function openPage(browser: Browser, { width, scheme }: Look): Promise<Page> {
  return browser.newPage({ viewport: { width, height: 900 }, colorScheme: scheme, offline: true })
}
