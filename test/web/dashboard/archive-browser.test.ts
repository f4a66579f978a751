/** Mails in the dashboard's archive, in a real browser. Nothing in a mail can act there. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import type { Store } from '../../../src/store/db/store.ts'
import { moveDelivery } from '../../../src/store/outbox/delivery.ts'
import { saveIssue } from '../../../src/store/reports/issue.ts'
import { savePreference } from '../../../src/store/reports/preference.ts'
import { hostilePage } from '../../look/pages.ts'
import { listElements } from '../../look/support/elements.ts'
import { enqueueMessage, MESSAGE } from '../../support/mail/message.ts'
import { PAYLOADS } from '../../support/mail/payloads.ts'
import { busyDay } from '../../support/reports/figures.ts'
import { openArchive } from '../../support/web/archive.ts'
import { hasBrowser, openBrowser } from '../../support/web/browser.ts'
import { NOW, type OpenedDashboard, openDashboard, signIn } from '../../support/web/dashboard.ts'
import { textOfPdf } from '../../support/web/pdf.ts'

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

/** The number of hostile names tried in the frame. `test/look` tries all of them in mails. */
const FRAMED = 8
/** The elements of each table row, by their tags and the names of their attributes. */
const ROWS = `[...document.querySelectorAll('tbody tr')].map((row) => [...row.querySelectorAll('*')]
  .filter(({ tagName }) => tagName !== 'BDI').map(({ tagName, attributes }) => [tagName, ...[...attributes].map(({ name }) => name)].join(' ')).join(', '))`

const COLOUR_OF_SHOWN = `getComputedStyle(document.getElementById('shown')).color`
const GROUND = 'getComputedStyle(document.body).backgroundColor'

/** Saves an issue with one message. */
async function keepMessage(
  store: Store,
  number: number,
  mail: { html: string; subject: string; text?: string },
) {
  const figures = busyDay()
  const { from, timeZone } = figures.period
  const to = new Date(Date.parse(figures.period.to) + number).toISOString()
  return store.write(async (trx) => {
    const { id } = await saveIssue(trx, {
      report: 'daily',
      variant: JSON.stringify({ pipelineIds: [mail.subject], conditions: [] }),
      period: { from, to, timeZone },
      renderedAt: to,
      programVersion: '1.2.3',
      text: mail.text ?? mail.subject,
      figures,
      ...mail,
    })
    const message = {
      ...MESSAGE,
      ...mail,
      messageId: `<${number}@example.com>`,
      text: mail.text ?? mail.subject,
    }
    await enqueueMessage(trx, id, message, MESSAGE.date)
    return id
  })
}

describe.skipIf(!hasBrowser)('a mail in the archive', () => {
  let browser: Browser
  /** The server that every request to evil.example would reach. */
  const evil = createServer((request, response) => {
    // Browsers request this icon by themselves, and the request may come in the next test.
    if (request.url !== '/favicon.ico') arrived.push(request.url ?? '')
    response.end()
  })
  const arrived: string[] = []
  beforeAll(async () => {
    evil.listen(0, '127.0.0.1')
    await once(evil, 'listening')
    const { port } = evil.address() as AddressInfo
    browser = await openBrowser([`--host-resolver-rules=MAP evil.example 127.0.0.1:${port}`])
  })
  beforeEach(() => void arrived.splice(0))
  afterAll(async () => {
    await browser?.close()
    evil.close()
  })

  async function openSignedIn({ url }: OpenedDashboard): Promise<Page> {
    const [name = '', value = ''] = (await signIn(url)).cookie.split('=')
    const context = await browser.newContext({ viewport: { width: 1280, height: 900 } })
    onTestFinished(() => context.close())
    await context.addCookies([{ name, value, url }])
    const page = await context.newPage()
    page.on('dialog', (dialog) => {
      arrived.push(`dialog: ${dialog.message()}`)
      return dialog.dismiss()
    })
    return page
  }

  it('would be seen if it did anything', async () => {
    const dashboard = await openDashboard()
    const page = await openSignedIn(dashboard)
    await page.route('**/bare', (route) => route.fulfill({ contentType: 'text/html', body: EVIL }))
    await page.goto(`${dashboard.url}/bare`, { waitUntil: 'commit' })
    await expect.poll(() => arrived).toContain('/top')
  })

  it('runs nothing, loads nothing, and leads nowhere, whatever stands in it', async () => {
    const dashboard = await openDashboard()
    const id = await keepMessage(dashboard.store, 0, { html: EVIL, subject: 'evil' })
    const page = await openSignedIn(dashboard)
    const address = `${dashboard.url}/archive/${id}`
    await page.goto(address)
    const mail = page.frameLocator('iframe')
    await expect.poll(() => mail.locator('#shown').innerText()).toBe('shown')
    expect(await page.frames()[1]?.evaluate(COLOUR_OF_SHOWN)).toBe('rgb(255, 0, 0)')
    for (const link of ['#send', '#up', '#away']) await mail.locator(link).click()
    expect(await mail.locator('body').getAttribute('data-ran')).toBeNull()
    expect(await page.title()).toBe('evil · leadsheet')
    expect([page.url(), page.context().pages().length, arrived]).toEqual([address, 1, []])
  })

  it('is printed to its last line, as HTML and as text', async () => {
    const dashboard = await openDashboard()
    const rendered = hostilePage('plain').rendered
    const lines = Array.from({ length: 300 }, (_, line) => `line ${line} of the mail`)
    const text = [rendered.text, ...lines, 'the very end'].join('\n')
    const id = await keepMessage(dashboard.store, 0, { ...rendered, subject: 'printed', text })
    const page = await openSignedIn(dashboard)
    for (const as of ['', '?message=0%40example.com&as=text']) {
      await page.goto(`${dashboard.url}/archive/${id}${as}`)
      const printed = textOfPdf(await page.pdf({ format: 'A4' }))
      const missing = text.split('\n').filter((line) => !printed.includes(line.replace(/\s+/g, '')))
      expect(missing).toEqual([])
      // The frame is not printed beside it.
      expect(printed.split('theveryend')).toHaveLength(2)
    }
  })

  it('runs nothing where it is opened alone', async () => {
    const dashboard = await openDashboard()
    const id = await keepMessage(dashboard.store, 0, {
      html: EVIL.replace(/<meta[^>]*>/, ''),
      subject: 'evil',
    })
    const page = await openSignedIn(dashboard)
    await page.goto(`${dashboard.url}/archive/${id}/mail/0%40example.com`)
    expect(await page.locator('#shown').innerText()).toBe('shown')
    expect(await page.locator('body').getAttribute('data-ran')).toBeNull()
    expect(arrived).toEqual([])
  })

  it('cannot be framed by a page of another site', async () => {
    // Without sign-in, the frame needs no cookie.
    const { url, store } = await openDashboard('')
    const id = await keepMessage(store, 0, { html: EVIL, subject: 'evil' })
    const page = await browser.newPage()
    onTestFinished(() => page.close())
    await page.setContent(`<iframe src="${url}/archive/${id}/mail/0%40example.com"></iframe>`)
    await expect.poll(() => page.frames()[1]?.url()).toBe('chrome-error://chromewebdata/')
  })

  it('is built as of any other, whatever its leads are called', async () => {
    const dashboard = await openDashboard()
    const page = await openSignedIn(dashboard)
    const lookAt = async (name: string, number: number) => {
      const { html } = hostilePage(name).rendered
      const id = await keepMessage(dashboard.store, number, { html, subject: 'hostile' })
      await page.goto(`${dashboard.url}/archive/${id}/mail/${number}%40example.com`)
      return listElements(page)
    }
    const plain = await lookAt('plain', 0)
    for (const [index, payload] of PAYLOADS.slice(0, FRAMED).entries()) {
      expect([payload, await lookAt(payload, index + 1)]).toEqual([payload, plain])
    }
    expect(arrived).toEqual([])
  })

  it('stands in a page that is built as of any other, whatever subjects, filters, answers and reasons are', async () => {
    const dashboard = await openDashboard()
    const { store, url } = dashboard
    const page = await openSignedIn(dashboard)
    const hostile = PAYLOADS.map((payload) => `plain ${payload}`)
    const ids: string[] = []
    for (const [number, subject] of hostile.entries()) {
      const id = await keepMessage(store, number, { html: '', subject })
      ids.push(id)
      const move = { state: 'failed', at: MESSAGE.date, nextAttemptAt: null, response: subject } as const
      await store.write(async (trx) => {
        await enqueueMessage(
          trx,
          id,
          { ...MESSAGE, messageId: `<${number}@example.org>`, to: subject },
          MESSAGE.date,
        )
        for (const host of ['com', 'org'])
          await moveDelivery(trx, `<${number}@example.${host}>`, ['pending'], move)
        await savePreference(trx, {
          address: subject,
          report: 'daily',
          state: 'paused',
          changedAt: MESSAGE.date,
          changedBy: 'operator',
          reason: subject,
        })
      })
    }
    const rowsOf = async (path: string): Promise<readonly string[]> => {
      await page.goto(`${url}${path}`)
      return page.evaluate(ROWS)
    }
    const list = await rowsOf('/archive')
    expect([list.length, new Set(list).size]).toEqual([50, 1])
    const messages: string[] = []
    for (const id of ids.filter((_, number) => number % 6 === 3)) {
      messages.push(...(await rowsOf(`/archive/${id}`)))
      expect(await page.locator('main :is(script, img, svg, object, style, base, meta)').count()).toBe(0)
    }
    // Paused recipients have one more line than others.
    expect([messages.length > 20, new Set(messages).size]).toEqual([true, 2])
    expect(arrived).toEqual([])
  })

  it('shows its pictures, in the scheme of the machine', async () => {
    const archive = await openArchive()
    await archive.mail(NOW)
    const page = await openSignedIn(archive)
    await page.goto(`${archive.url}/archive?q=ana`)
    await page.locator('.month a').first().click()
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
