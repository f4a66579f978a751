import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { openTemplates } from '../../src/report/render/templates.ts'
import { openPreview, type PreviewChoice } from '../../src/web/preview/preview.ts'
import { folderWith } from '../support/folder.ts'
import { TEMPLATES_FOLDER } from '../support/report.ts'
import { FRAMES_IN_PROCESS, hasBrowser, openBrowser } from '../support/web/browser.ts'

const PIXEL = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)
const HTML = `<tr><td class="head"><h1>{{title}}</h1>
<img src="{{image}}" width="1" height="1" alt="a dot"></td></tr>`

/** Opens a report whose templates lie in a folder of the test. */
async function openMine(html = HTML) {
  const own = folderWith({
    'mine/subject.hbs': '{{title}}',
    'mine/html.hbs': html,
    'mine/text.hbs': 'Text for {{title}}',
  })
  const choices: PreviewChoice[] = []
  const server = await openPreview({
    report: 'mine',
    port: 0,
    recipients: async () => ['ana@example.com'],
    locales: [['de-DE', 'Deutsch']],
    render: async (choice) => {
      choices.push(choice)
      const templates = await openTemplates(TEMPLATES_FOLDER, { own, only: ['mine'] })
      const title = `Mine, ${choice.data}, ${choice.recipient}, ${choice.locale}`
      const page = {
        lang: 'en',
        dir: 'ltr',
        preheader: 'Now & before',
        mark: '',
        banner: null,
        footer: { lines: [], unsubscribe: null },
        blocks: [],
      }
      const rendered = templates.render('mine', { ...page, title, image: 'cid:dot@leadsheet' })
      const about = { from: 'from@example.com', to: 'all', attachments: ['a.csv'] }
      return { ...about, ...rendered, images: new Map([['dot@leadsheet', PIXEL]]) }
    },
  })
  onTestFinished(() => server[Symbol.asyncDispose]())
  const edit = (text: string): void => {
    writeFileSync(join(own, 'mine/html.hbs'), text)
    server.refresh()
  }
  return { server, edit, choices }
}

describe('the server of a preview', () => {
  test('is there for this machine alone, and not for a name that points to it', async () => {
    const { server } = await openMine()
    expect(server.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/$/)
    const { request } = await import('node:http')
    const statusFor = (host: string) =>
      new Promise<number | undefined>((resolve, reject) => {
        const asked = request(server.url, { headers: { host } }, (response) =>
          resolve(response.resume().statusCode),
        )
        asked.on('error', reject).end()
      })
    expect(await statusFor('evil.example.com')).toBe(403)
    expect(await statusFor('localhost:1234')).toBe(200)
  })

  test('lets the page run its own script only, and the mail none', async () => {
    const { server } = await openMine()
    const page = await fetch(server.url)
    expect(page.headers.get('content-security-policy')).toContain("default-src 'none'; script-src 'self'")
    const state = (await (await fetch(`${server.url}state`)).json()) as { id: string }
    const mail = await fetch(`${server.url}mail/${state.id}/light`)
    expect(mail.headers.get('content-security-policy')).toMatch(/^default-src 'none'; .*; sandbox$/)
    expect(await mail.text()).toContain(`src="/image/${state.id}/dot%40leadsheet"`)
    expect((await fetch(`${server.url}image/${state.id}/dot%40leadsheet`)).headers.get('content-type')).toBe(
      'image/png',
    )
    expect((await fetch(`${server.url}mail/nope/light`)).status).toBe(404)
    expect((await fetch(`${server.url}image/${state.id}/nope`)).status).toBe(404)
  })

  test('says where it cannot listen', async () => {
    const { server } = await openMine()
    const port = Number(new URL(server.url).port)
    const again = openPreview({
      report: 'x',
      port,
      recipients: async () => [],
      locales: [],
      render: () => Promise.reject(),
    })
    await expect(again).rejects.toMatchObject({
      code: 'usage_invalid',
      message: expect.stringContaining(`port ${port}`),
    })
  })
})

describe.skipIf(!hasBrowser)('the page of a preview', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await openBrowser(FRAMES_IN_PROCESS)
  })
  afterAll(() => browser.close())

  async function look(url: string): Promise<Page> {
    const page = await browser.newPage({ viewport: { width: 1200, height: 800 } })
    onTestFinished(() => page.close())
    const problems: string[] = []
    page.on('pageerror', (error) => problems.push(error.message))
    page.on('console', (message) => message.type() === 'error' && problems.push(message.text()))
    onTestFinished(() => expect(problems).toEqual([]))
    await page.goto(url)
    return page
  }
  const mailOf = (page: Page) => page.frameLocator('#mail')

  test('shows the mail with its pictures, at the width of a screen and of a phone, and dark', async () => {
    const { server } = await openMine()
    const page = await look(server.url)
    await mailOf(page).getByRole('heading', { name: 'Mine, sample, null, null' }).waitFor()
    expect(
      await mailOf(page)
        .getByAltText('a dot')
        .evaluate((image) => Reflect.get(image, 'naturalWidth')),
    ).toBe(1)
    expect(await page.locator('#subject').textContent()).toContain('Mine')
    expect(await page.locator('#preheader').textContent()).toBe('Now & before')
    const ground = () =>
      mailOf(page)
        .locator('body')
        .evaluate((body) => Reflect.get(globalThis, 'getComputedStyle')(body).backgroundColor)
    expect((await page.locator('#mail').boundingBox())?.width).toBe(720)
    const light = await ground()
    await page.getByRole('tab', { name: 'Phone' }).click()
    expect(
      await mailOf(page)
        .locator('html')
        .evaluate((html) => html.clientWidth),
    ).toBe(375)
    await page.getByRole('tab', { name: 'Dark' }).click()
    await expect.poll(ground).not.toBe(light)
  })

  test('shows text and source, and what is chosen, also after a reload', async () => {
    const { server, choices } = await openMine()
    const page = await look(server.url)
    await page.getByRole('tab', { name: 'Text' }).click()
    await page.getByLabel('Data').selectOption('real')
    await page.getByLabel('For').selectOption('ana@example.com')
    await page.getByLabel('Language').selectOption('Deutsch')
    await page.getByText('Text for Mine, real, ana@example.com, de-DE').waitFor()
    expect(choices.at(-1)).toEqual({ data: 'real', recipient: 'ana@example.com', locale: 'de-DE' })
    await page.reload()
    await page.getByText('Text for Mine, real, ana@example.com, de-DE').waitFor()
    await page.getByRole('tab', { name: 'Source' }).click()
    expect(await page.locator('#plain').textContent()).toContain('<!DOCTYPE html>')
  })

  test('follows every save: a mistake is shown with its line, and gone when it is cleaned', async () => {
    const { server, edit } = await openMine()
    const page = await look(server.url)
    const heading = (name: string) => mailOf(page).getByRole('heading', { name })
    await heading('Mine, sample, null, null').waitFor()
    edit(HTML.replace('{{title}}', '\n{{titel}}'))
    await page.getByRole('alert').waitFor()
    expect(await page.locator('#message').textContent()).toMatch(
      /mine\/html\.hbs, line 2: "titel" not defined$/,
    )
    expect(await page.locator('#mail').isVisible()).toBe(false)
    edit(HTML.replace('{{title}}', 'Mended: {{title}}'))
    await heading('Mended: Mine, sample, null, null').waitFor()
    expect(await page.getByRole('alert').isVisible()).toBe(false)
  })

  test('has a key for each view', async () => {
    const { server } = await openMine()
    const page = await look(server.url)
    await mailOf(page).getByRole('heading').waitFor()
    await page.keyboard.press('4')
    await page.getByText('Text for Mine').waitFor()
    expect(await page.getByRole('tab', { name: 'Text' }).getAttribute('aria-selected')).toBe('true')
  })

  test('tells when a mail is so large that it would be cut', async () => {
    const { server } = await openMine(HTML.replace('{{title}}', `{{title}} ${'long '.repeat(21_000)}`))
    const page = await look(server.url)
    await page.getByRole('status').getByText('Gmail cuts a mail at 102 KB').waitFor()
  })

  test('runs nothing that the mail brings along', async () => {
    const html = HTML.replace(
      '<h1>',
      '<h1 onclick="top.document.title=1"><script>parent.document.title = 2</script>',
    )
    const { server } = await openMine(html)
    const page = await browser.newPage()
    onTestFinished(() => page.close())
    await page.goto(server.url)
    await mailOf(page).getByRole('heading').waitFor()
    expect(await page.title()).toBe('mine: preview')
  })
})
