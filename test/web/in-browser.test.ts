// @long
/** The dashboard and the pages of recipients in a real browser. Nothing in a mail can act there. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { upsertAlerts } from '../../src/store/alerts/alert.ts'
import { listAnnotations } from '../../src/store/insight/annotation.ts'
import { findBarriers } from '../look/support/axe.ts'
import { keepIssue, openArchive, pathOfIssue } from '../support/web/archive.ts'
import { hasBrowser, openBrowser } from '../support/web/browser.ts'
import { AS_BROWSER, act, ask, NOW, openDashboard, signIn, TOKEN } from '../support/web/dashboard.ts'
import { openStatusPage } from '../support/web/status-page.ts'
import { fillWithProblems, openAlert } from '../support/web/store-with-problems.ts'
import { openPages, wishFor } from '../support/web/web.ts'

/** HTML whose scripts would be noticed. No template makes it, but a broken one might. */
const EVIL = `<!DOCTYPE html><html lang="en"><head><title>Evil</title>
<meta http-equiv="refresh" content="0;url=http://evil.example/refresh">
<link rel="stylesheet" href="http://evil.example/x.css"><base href="http://evil.example/"></head>
<body onload="document.body.dataset.ran = 'onload'">
<script>document.body.dataset.ran = 'script'; top.location = 'http://evil.example/top'</script>
<script>parent.document.title = 'taken'; window.open('http://evil.example/open')</script>
<img src="http://evil.example/pixel.png" onerror="document.body.dataset.ran = 'onerror'">
<iframe src="http://evil.example/frame"></iframe><object data="http://evil.example/object"></object>
<form action="http://evil.example/form" method="post"><button id="send">Send</button></form>
<a id="up" href="http://evil.example/up" target="_top">Up</a>
<a id="away" href="http://evil.example/away" target="_blank">Away</a>
<p style="color: red" id="shown">shown</p></body></html>`

const COLOUR_OF_SHOWN = `getComputedStyle(document.getElementById('shown')).color`
const GROUND = 'getComputedStyle(document.body).backgroundColor'
const HIDDEN_OF_MAIL = `(({ scrollHeight, clientHeight }) => scrollHeight - clientHeight)(document.querySelector('.mail-text'))`
const WIDER = 'document.documentElement.scrollWidth - innerWidth'

/** The server that every request to evil.example would reach. */
const evil = createServer((request, response) => {
  // Browsers request this icon by themselves, and the request may come in the next test.
  if (request.url !== '/favicon.ico') arrived.push(request.url ?? '')
  response.end()
})
const arrived: string[] = []
let browser: Browser

async function openPage(options: BrowserContextOptions = {}): Promise<Page> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options })
  onTestFinished(() => context.close())
  const page = await context.newPage()
  page.on('dialog', (dialog) => {
    arrived.push(`dialog: ${dialog.message()}`)
    return dialog.dismiss()
  })
  page.on('console', (message) => {
    // The browser itself reports the answer 401 to a wrong token.
    if (message.type() === 'error' && !message.text().includes('401')) complaints.push(message.text())
  })
  return page
}
const complaints: string[] = []

async function openSignedIn({ url }: { readonly url: string }): Promise<Page> {
  const [name = '', value = ''] = (await signIn(url)).cookie.split('=')
  const page = await openPage()
  await page.context().addCookies([{ name, value, url }])
  return page
}

/** Presses a key until the focused element has this name, and then Enter. */
async function choose(page: Page, name: string): Promise<void> {
  for (let count = 0; count < 100; count += 1) {
    await page.keyboard.press('Tab')
    if ((await page.evaluate('document.activeElement?.textContent.trim()')) !== name) continue
    return page.keyboard.press('Enter')
  }
  throw new Error(`no key leads to ${name}`)
}

beforeAll(async () => {
  if (!hasBrowser) return
  evil.listen(0, '127.0.0.1')
  await once(evil, 'listening')
  const { port } = evil.address() as AddressInfo
  browser = await openBrowser([`--host-resolver-rules=MAP evil.example 127.0.0.1:${port}`])
})
beforeEach(() => {
  arrived.length = 0
  complaints.length = 0
})
afterAll(async () => {
  await browser?.close()
  evil.close()
})

describe.skipIf(!hasBrowser)('in a browser', () => {
  it('an operator at a keyboard signs in, syncs, acknowledges, notes a day and signs out', async () => {
    const { url, store, wakes } = await openDashboard()
    await store.write((trx) => upsertAlerts(trx, [openAlert({ id: 7, checkId: 'sync_late' })]))
    const page = await openPage()
    await page.goto(url)
    await page.keyboard.type('not the token at all')
    await page.keyboard.press('Enter')
    await page.getByRole('alert').getByText('That is not the token.').waitFor()
    await page.keyboard.type(TOKEN)
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Sign out' }).waitFor()

    await choose(page, 'Sync now')
    await page.getByText('A sync has been asked for. It begins at once.').waitFor()
    expect(wakes()).toBe(1)
    await page.reload()
    expect(await page.getByText('A sync has been asked for').count()).toBe(0)

    await choose(page, 'Acknowledge data old')
    await page.getByText('data old: there are no more reminders of it.').waitFor()

    await page.goto(`${url}/annotations`)
    await page.getByLabel('What was different').fill('campaign')
    await page.keyboard.press('Enter')
    await page.getByText('Noted: campaign.').waitFor()
    await page.getByRole('button', { name: /^Remove/ }).click()
    await page.getByText('Removed: campaign.').waitFor()
    expect(await listAnnotations(store.db)).toEqual([])

    await choose(page, 'Sign out')
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    await page.goto(`${url}/archive`)
    expect(new URL(page.url()).pathname).toBe('/sign-in')
    expect(complaints).toEqual([])
  })

  it('an operator comes in by a link of another site, such as that of a mail, while they are signed in', async () => {
    const { url } = await openDashboard()
    const page = await openPage()
    const elsewhere = `data:text/html,<a href="${url}/archive?page=1">Look</a>`
    await page.goto(elsewhere)
    await page.getByRole('link', { name: 'Look' }).click()
    await page.waitForURL(`${url}/sign-in?to=*`)
    await page.getByLabel('Token').fill(TOKEN)
    await page.keyboard.press('Enter')
    await page.waitForURL(`${url}/archive?page=1`)
    await page.goto(elsewhere)
    await page.getByRole('link', { name: 'Look' }).click()
    await page.waitForURL(`${url}/archive?page=1`)
    await page.getByRole('button', { name: 'Sign out' }).waitFor()
  })

  it('a recipient pauses, resumes and unsubscribes by the buttons, with the keyboard too', async () => {
    const { pageOf, standingOf } = await openPages()
    const page = await openPage()
    await page.goto(pageOf('ana@example.com'))
    await page.getByRole('button', { name: 'Pause' }).click()
    await page.getByText('Paused since Fri 20 Nov').waitFor()
    expect(await standingOf('ana@example.com')).toBe('paused')
    await page.getByRole('button', { name: 'Resume' }).press('Enter')
    await page.getByText('Resumed.').waitFor()
    await page.getByRole('button', { name: 'Unsubscribe' }).click()
    await page.getByText('You will get no more of these mails.').waitFor()
    expect(await standingOf('ana@example.com')).toBe('unsubscribed')
    expect(await page.getByRole('button').allTextContents()).toEqual(['Subscribe again'])
    expect(complaints).toEqual([])
  })

  it('no page that `test/browser` does not find has a barrier, on any screen, light or dark', async () => {
    const archive = await openArchive('recipients: [ana@example.com]')
    await archive.mail(NOW)
    const session = await signIn(archive.url)
    const closed = await openDashboard('listen: 0.0.0.0:0')
    const status = await openStatusPage({ canAct: true })
    const lease = await fillWithProblems(status.store)
    const { pageOf, server } = await openPages()
    await wishFor(pageOf('ben@example.com'), 'pause')
    const asked = { report: 'daily', to: 'ana@example.com' }
    const wrong = { method: 'POST', headers: { origin: archive.url }, form: { token: 'wrong' } }
    const dashboard = [
      await ask(`${archive.url}/sign-in`, wrong),
      await act(archive.url, '/actions/test', session, { report: 'daily' }),
      await act(archive.url, '/actions/resend', session, asked),
      await ask(closed.url, { headers: AS_BROWSER }),
      await ask(status.url, {}),
    ]
    const urls = ['ana', 'ben', 'dana', 'zoe'].map((name) => pageOf(`${name}@example.com`))
    const web = await Promise.all([...urls, `${server.url}/nowhere`].map((url) => ask(url)))
    const page = await openPage()
    for (const [pages, sheet] of [
      [dashboard, `${archive.url}/dashboard.css`],
      [web, `${server.url}/web.css`],
    ] as const) {
      const css = (await ask(sheet)).text
      for (const { text } of pages) {
        // The test uses a copy of the page, because the page's policy forbids the script of axe.
        await page.setContent(text.replace(/<link rel="stylesheet"[^>]*>/, () => `<style>${css}</style>`))
        await page.evaluate("for (const each of document.querySelectorAll('details')) each.open = true")
        for (const width of [1200, 320]) {
          await page.setViewportSize({ width, height: 800 })
          expect(await page.evaluate(WIDER)).toBeLessThanOrEqual(0)
        }
        for (const colorScheme of ['light', 'dark'] as const) {
          await page.emulateMedia({ colorScheme })
          expect([colorScheme, await findBarriers(page)]).toEqual([colorScheme, []])
        }
      }
    }
    await lease.release()
  })
})

describe.skipIf(!hasBrowser)('a mail in the archive', () => {
  /** Keeps an issue with one message, and opens a page that may show it. */
  async function openWith(html: string, web?: string, text = 'the mail') {
    const dashboard = await openDashboard(web)
    const id = await keepIssue(dashboard.store, { html, subject: 'evil', text })
    const page = web === undefined ? await openSignedIn(dashboard) : await openPage()
    const address = `${dashboard.url}/archive/${id}`
    return { page, address, alone: `${address}/mail/1%40example.com` }
  }

  it('would be seen if it did anything', async () => {
    const { page, address } = await openWith('')
    await page.route('**/bare', (route) => route.fulfill({ contentType: 'text/html', body: EVIL }))
    await page.goto(new URL('/bare', address).href, { waitUntil: 'commit' })
    await expect.poll(() => arrived).toContain('/top')
  })

  it('runs nothing, loads nothing, and leads nowhere, whatever stands in it', async () => {
    const { page, address } = await openWith(EVIL)
    await page.goto(address)
    const mail = page.frameLocator('iframe')
    await expect.poll(() => mail.locator('#shown').innerText()).toBe('shown')
    expect(await page.frames()[1]?.evaluate(COLOUR_OF_SHOWN)).toBe('rgb(255, 0, 0)')
    for (const link of ['#send', '#up', '#away']) await mail.locator(link).click()
    expect(await mail.locator('body').getAttribute('data-ran')).toBeNull()
    expect(await page.title()).toBe('evil · leadsheet')
    expect([page.url(), page.context().pages().length, arrived]).toEqual([address, 1, []])
  })

  it('runs nothing where it is opened alone', async () => {
    const { page, alone } = await openWith(EVIL.replace(/<meta[^>]*>/, ''))
    await page.goto(alone)
    expect(await page.locator('#shown').innerText()).toBe('shown')
    expect(await page.locator('body').getAttribute('data-ran')).toBeNull()
    expect(arrived).toEqual([])
  })

  it('cannot be framed by a page of another site', async () => {
    // Without sign-in, the frame needs no cookie.
    const { page, alone } = await openWith(EVIL, '')
    await page.setContent(`<iframe src="${alone}"></iframe>`)
    await expect.poll(() => page.frames()[1]?.url()).toBe('chrome-error://chromewebdata/')
  })

  it('is printed to its last line, as HTML and as text, in the place of its frame', async () => {
    const text = Array.from({ length: 300 }, (_, line) => `line ${line} of the mail`).join('\n')
    const { page, address } = await openWith('<p>the mail</p>', undefined, text)
    await page.emulateMedia({ media: 'print' })
    for (const as of ['', '?message=1%40example.com&as=text']) {
      await page.goto(`${address}${as}`)
      const printed = page.locator('.mail-text')
      expect(await printed.innerText()).toBe(text)
      expect(await page.evaluate(HIDDEN_OF_MAIL)).toBeLessThan(2)
      expect(await page.locator('iframe:visible').count()).toBe(0)
    }
  })

  it('shows its pictures, in the scheme of the machine', async () => {
    const archive = await openArchive()
    await archive.mail(NOW)
    const page = await openSignedIn(archive)
    await page.goto(`${archive.url}${await pathOfIssue(archive.store)}`)
    const mail = page.frameLocator('iframe')
    await mail.locator('body').waitFor()
    const ground = () => page.frames()[1]?.evaluate(GROUND)
    const [light, dark] = [await ground(), await page.emulateMedia({ colorScheme: 'dark' }).then(ground)]
    expect(light).not.toBe(dark)
    const widths = await mail
      .locator('img')
      .evaluateAll((images) =>
        images.map((image) => (image as unknown as { naturalWidth: number }).naturalWidth),
      )
    expect(widths.length).toBeGreaterThan(1)
    expect(widths.every((width) => width > 0)).toBe(true)
    expect(arrived).toEqual([])
  })
})
