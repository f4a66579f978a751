// @long
/**
 * Every page of a running daemon's dashboard in a real browser. The pages are found by following links. Each
 * is tested on a wide screen and a phone, light and dark, by keyboard, and without scripts.
 */
import { HtmlValidate } from 'html-validate'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { measure } from '../look/measure.ts'
import { findBarriers } from '../look/support/axe.ts'
import { PAGE_RULES } from '../look/support/html-rules.ts'
import { folderWith } from '../support/folder.ts'
import { startLeadsheet } from '../support/leadsheet.ts'
import { readAddress } from '../support/process/daemon-address.ts'
import { clockAt } from '../support/process/shifted-clock.ts'
import { runWarm } from '../support/process/warm-leadsheet.ts'
import { hasBrowser, openBrowser } from '../support/web/browser.ts'

const TOKEN = 'walk-through-all-pages'
const STARTED_AT = '2026-11-20T08:30:00Z'
const WIDTHS = [1280, 390]
const NARROWEST = 320
const SMALLEST_PX = 12
/** More stops than any page has. */
const STOPS_MAX = 300

/** Pages that must be found, however many others are linked. */
const KNOWN = ['/', '/archive', '/archive/…', '/agents', '/record', '/sign-in']

interface FoundPage {
  readonly path: string
  readonly html: string
}

describe.skipIf(!hasBrowser)('every page of the dashboard', () => {
  it('can be read, used by keyboard and looked at on any screen, and asks nobody else for anything', async () => {
    const url = await startDashboardDaemon()
    await using browser = await openBrowser()
    const faults: string[] = []
    await using visitor = await openVisitor(browser, url, faults)
    const page = await visitor.newPage()
    const signIn = await findPage(page, url, '/sign-in')
    await look(page, signIn, faults)
    await page.getByLabel('Token').fill(TOKEN)
    await page.keyboard.press('Enter')
    await page.waitForURL(`${url}/`)
    const pages = await findPages(page, url)
    expect([...pages.map(({ path }) => kindOf(path)), '/sign-in']).toEqual(expect.arrayContaining(KNOWN))
    for (const found of pages) {
      await page.goto(url + found.path)
      expect(await skipToContent(page), found.path).toBe('content')
      await look(page, found, faults)
    }
    expect(faults).toEqual([])
    await using plain = await browser.newContext({
      javaScriptEnabled: false,
      storageState: await visitor.storageState(),
    })
    for (const found of pages) await readWithoutScript(plain, url, found)
  })
})

/** Collects in `faults` the errors, violations of the policy, and requests to other hosts. */
async function openVisitor(browser: Browser, url: string, faults: string[]): Promise<BrowserContext> {
  const visitor = await browser.newContext()
  visitor.on('console', (message) => {
    if (message.type() === 'error') faults.push(`${message.page()?.url()}: ${message.text()}`)
  })
  visitor.on('weberror', (error) => faults.push(`${error.page()?.url()}: ${error.error().message}`))
  visitor.on('request', (request) => {
    if (!request.url().startsWith(`${url}/`)) faults.push(`asked for ${request.url()}`)
  })
  return visitor
}

/** Finds the first page of each kind, by following links and forms that change nothing. */
async function findPages(page: Page, url: string): Promise<FoundPage[]> {
  const found: FoundPage[] = []
  const waiting = ['/']
  const met = new Set<string>()
  for (let path = waiting.shift(); path !== undefined; path = waiting.shift()) {
    if (met.has(kindOf(path))) continue
    met.add(kindOf(path))
    const answer = await page.request.get(url + path)
    if (!answer.headers()['content-type']?.startsWith('text/html')) continue
    if (answer.headers()['content-security-policy']?.includes('sandbox')) continue
    found.push(await findPage(page, url, path))
    waiting.push(...(await linksOf(page)))
  }
  return found
}

async function findPage(page: Page, url: string, path: string): Promise<FoundPage> {
  const answer = await page.goto(url + path)
  if (answer?.status() !== 200) throw new Error(`${path} is answered with ${answer?.status()}`)
  return { path, html: await answer.text() }
}

/** Returns the kind of a page, such as `/archive/…`, which its pages share. */
function kindOf(path: string): string {
  const [, place = '', ...rest] = new URL(path, 'http://any').pathname.split('/')
  return `/${[place, ...rest.map(() => '…')].join('/')}`
}

async function linksOf(page: Page): Promise<string[]> {
  return page.evaluate(`[...document.querySelectorAll('a[href^="/"], form:not([method=post])[action^="/"]')]
    .map((element) => element.getAttribute('href') ?? element.getAttribute('action'))`)
}

/** Checks the page on screens of these widths, each time freshly loaded. */
async function look(page: Page, { path, html }: FoundPage, faults: string[]): Promise<void> {
  const tell = (fault: string) => faults.push(`${path}: ${fault}`)
  const { results } = await new HtmlValidate(PAGE_RULES).validateString(html)
  for (const { line, ruleId, message } of results.flatMap(({ messages }) => messages))
    tell(`line ${line}: ${ruleId}: ${message}`)
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 900 })
    // The page is loaded again, so that the test begins at its top.
    await page.goto(page.url())
    await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' })
    for (const barrier of await findBarriers(page)) tell(`${width}: ${barrier}`)
    await page.emulateMedia({ colorScheme: 'dark', reducedMotion: 'reduce' })
    for (const barrier of await findBarriers(page, ['color-contrast'])) tell(`${width}, dark: ${barrier}`)
    const { messages, width: needed } = await measure(page)
    for (const { text, size } of messages)
      if (size < SMALLEST_PX) tell(`${width}: ${text} has ${size} pixels`)
    if (needed > width) tell(`is ${needed} wide on a screen of ${width}`)
    await walk(page, (fault) => tell(`${width}: ${fault}`))
  }
  await page.setViewportSize({ width: NARROWEST, height: 640 })
  const needed = await page.evaluate('document.documentElement.scrollWidth')
  if (needed !== NARROWEST) tell(`is ${needed} wide on a screen of ${NARROWEST}`)
}

/**
 * Goes through the page with the Tab key. Every control must come in the order of the page, visible and
 * marked. Frames with a mail are skipped, because the test could not tell when the focus has left them.
 */
async function walk(page: Page, tell: (fault: string) => void): Promise<void> {
  const count: number = await page.evaluate(`
    document.body.tabIndex = -1
    document.body.focus()
    document.body.removeAttribute('tabindex')
    for (const frame of document.querySelectorAll('iframe')) frame.tabIndex = -1
    window.stops = [...document.querySelectorAll('a[href], button, input, select, textarea, summary, [tabindex="0"]')]
      .filter((element) => element.checkVisibility({ visibilityProperty: true }) && !element.disabled && element.type !== 'hidden')
    window.stops.length`)
  const reached: number[] = []
  for (let stop = 0; stop < STOPS_MAX; stop++) {
    await page.keyboard.press('Tab')
    const found: { place: number; name: string; isMarked: boolean; isSeen: boolean } =
      await page.evaluate(STOP)
    if (found.place < 0 || found.place === reached[0]) break
    reached.push(found.place)
    if (!found.isMarked) tell(`nothing marks ${found.name} when it has the focus`)
    if (!found.isSeen) tell(`${found.name} cannot be seen when it has the focus`)
  }
  const all = Array.from({ length: count }, (_, place) => place)
  if (reached.join() !== all.join()) tell(`by the tab key one comes to ${reached} of ${count} stops`)
}

/** Returns the place of the focus among the stops, and whether it is visible. */
const STOP = `(() => {
  const element = document.activeElement
  const { outlineStyle, outlineWidth } = getComputedStyle(element)
  const [{ x, y, width, height } = {}] = element.getClientRects()
  const shown = document.elementFromPoint(x + width / 2, y + height / 2)
  return {
    place: window.stops.indexOf(element),
    name: element.outerHTML.slice(0, 100),
    isMarked: outlineStyle !== 'none' && Number.parseFloat(outlineWidth) >= 2,
    isSeen: shown !== null && (element.contains(shown) || shown.contains(element)),
  }
})()`

/** The first stop must lead past the head that all pages share. */
async function skipToContent(page: Page): Promise<string> {
  await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  return page.evaluate('document.activeElement.id')
}

/** Checks that the page shows its content and its links. */
async function readWithoutScript(visitor: BrowserContext, url: string, { path }: FoundPage): Promise<void> {
  const page = await visitor.newPage()
  await page.goto(url + path)
  expect(await page.locator('h1').innerText(), path).not.toBe('')
  await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Agents' }).click()
  await page.waitForURL(`${url}/agents`)
  await page.close()
}

/** Starts a daemon with its dashboard for the current test, on what the demo has synced and sent. Its service is away. */
async function startDashboardDaemon(): Promise<string> {
  const cwd = folderWith()
  expect((await runWarm(['demo'], { cwd, env: clockAt(STARTED_AT) })).status).toBe(0)
  const env = {
    ...clockAt(STARTED_AT),
    LEADSHEET_CONFIG: 'data/demo/leadsheet.yaml',
    LEADSHEET_API_KEY: 'key-of-nobody',
    LEADSHEET_WEB_LISTEN: '127.0.0.1:0',
    LEADSHEET_WEB_TOKEN: TOKEN,
  }
  return readAddress(startLeadsheet(['run'], { cwd, env }).stderr)
}
