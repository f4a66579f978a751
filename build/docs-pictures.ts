/**
 * Takes all pictures of the documentation again, from an installation with a fixed clock: `npm run
 * docs:pictures`. With names, takes only these pictures: `npm run docs:pictures -- alert terminal-demo`. Look
 * at each picture before you commit it.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import type { Email } from 'postal-mime'
import { saveReference } from '../test/look/picture.ts'
import { putFontInto } from '../test/look/support/font.ts'
import { openBrowser } from '../test/support/web/browser.ts'
import { openInstallation, ROOT, TOKEN } from './pictures/installation.ts'
import { recordDemo } from './pictures/terminal.ts'

const FOLDER = join(ROOT, 'docs/pictures')
const DESKTOP = { width: 1180, height: 400 }
const READING_PANE = { width: 680, height: 300, cut: 1176 }
const PHONE = { width: 375, height: 400 }
const NOW = '2026-11-20T06:00:30Z'

interface Look {
  readonly width: number
  readonly height: number
  readonly isDark?: boolean
  readonly scale?: number
  /** The height in pixels at which the picture is cut off; without it, the picture shows the whole page. */
  readonly cut?: number
}

/**
 * The font configuration for the browser. All texts use fixed fonts, so that a picture looks the same on
 * every machine.
 */
const FONTS = `<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd"><fontconfig>
<dir>/usr/share/fonts</dir><dir>${join(ROOT, 'node_modules/@expo-google-fonts/inter')}</dir>
${[
  ['system-ui', 'Inter'],
  ['sans-serif', 'Inter'],
  ['ui-monospace', 'DejaVu Sans Mono'],
  ['monospace', 'DejaVu Sans Mono'],
]
  .map(
    ([family, font]) =>
      `<match target="pattern"><test name="family"><string>${family}</string></test><edit name="family" mode="prepend" binding="strong"><string>${font}</string></edit></match>`,
  )
  .join('\n')}
</fontconfig>`

/** A browser script that replaces the texts on a page that name this machine. */
const MASK = `(masks) => {
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
  for (let node = walker.nextNode(); node; node = walker.nextNode())
    for (const [text, instead] of masks)
      if (node.data.includes(text)) node.data = node.data.replaceAll(text, instead)
}`

const wanted = process.argv.slice(2)
const isWanted = (name: string): boolean => wanted.length === 0 || wanted.includes(name)
mkdirSync(FOLDER, { recursive: true })
if (isWanted('terminal-demo')) save('terminal-demo.svg', await recordDemo())
if (wanted.length === 0 || wanted.some((name) => name !== 'terminal-demo')) await takeAll()

async function takeAll(): Promise<void> {
  await using installation = await openInstallation()
  const { masks } = installation
  await using browser = await openPlainBrowser()
  const friday = await installation.startFriday()
  const daily = await installation.mail('2026-11-20-daily-ana')
  const weekly = await installation.mail('weekly-dana')
  await takeMail('mail-daily', daily, READING_PANE)
  await takeMail('mail-daily-dark', daily, { ...READING_PANE, isDark: true })
  await takeMail('mail-daily-phone', daily, { ...PHONE, scale: 2, cut: 1500 })
  await takeMail('mail-weekly-de', weekly, READING_PANE)

  for (const [name, path, look] of [
    ['dashboard-status', '/', DESKTOP],
    ['dashboard-status-dark', '/', { ...DESKTOP, isDark: true }],
    ['dashboard-archive', '/archive', DESKTOP],
    ['dashboard-issue', 'issue', { ...DESKTOP, cut: 1000 }],
    ['dashboard-phone', '/', { ...PHONE, scale: 2, cut: 1000 }],
  ] as const) {
    if (!isWanted(name) && !isWanted('mail-and-dashboard')) continue
    await using page = await open(browser, look)
    await page.goto(`${friday.url}/sign-in`)
    await page.getByLabel(/token/i).fill(TOKEN)
    await page.keyboard.press('Enter')
    await page.waitForURL(`${friday.url}/`)
    if (path === 'issue') {
      await page.goto(`${friday.url}/archive`)
      const issue = await page.locator('main a[href^="/archive/"]').first().getAttribute('href')
      await page.goto(`${friday.url}${issue}`)
    } else await page.goto(`${friday.url}${path}`)
    await take(name, page, look)
  }
  if (isWanted('dashboard-preferences')) {
    const [link = ''] = /https:\/\/reports\.example\.com\/preferences[^\s"<>]*/.exec(daily.text ?? '') ?? []
    await using page = await open(browser, READING_PANE)
    await page.goto(link.replace('https://reports.example.com', friday.url))
    await take('dashboard-preferences', page, READING_PANE)
  }
  await friday.stop()
  if (isWanted('mail-and-dashboard')) await takeBoth(browser)
  if (isWanted('alert')) await takeMail('alert', await installation.loseService(), READING_PANE)

  async function takeMail(name: string, mail: Email, look: Look): Promise<void> {
    if (!isWanted(name) && !isWanted('mail-and-dashboard')) return
    await using page = await open(browser, look)
    await page.setContent(withImages(mail))
    await take(name, page, look)
  }

  async function take(name: string, page: Page, { cut }: Look): Promise<void> {
    await page.evaluate(`(${MASK})(${JSON.stringify(masks)})`)
    await page.waitForTimeout(300)
    const whole = Number(await page.evaluate('Math.ceil(document.documentElement.scrollHeight)'))
    const taken = await page.screenshot({ fullPage: true })
    const clip = { x: 0, y: 0, width: page.viewportSize()?.width ?? 0, height: Math.min(whole, cut ?? whole) }
    save(
      `${name}.png`,
      cut !== undefined && whole > cut ? await page.screenshot({ fullPage: true, clip }) : taken,
    )
  }
}

async function openPlainBrowser(): Promise<Browser> {
  const folder = mkdtempSync(join(tmpdir(), 'leadsheet-fonts-'))
  process.env.FONTCONFIG_FILE = join(folder, 'fonts.conf')
  writeFileSync(process.env.FONTCONFIG_FILE, FONTS)
  const browser = await openBrowser()
  browser.once('disconnected', () => rmSync(folder, { recursive: true }))
  return browser
}

async function open(browser: Browser, { width, height, isDark = false, scale = 1 }: Look): Promise<Page> {
  const page = await browser.newPage({
    viewport: { width, height },
    colorScheme: isDark ? 'dark' : 'light',
    deviceScaleFactor: scale,
    locale: 'en-GB',
    timezoneId: 'Europe/Berlin',
  })
  await page.clock.setFixedTime(NOW)
  await putFontInto(page)
  return page
}

/** Takes the picture of README.md: the mail and the status page side by side, with the same height. */
async function takeBoth(browser: Browser): Promise<void> {
  await using page = await open(browser, { width: 1400, height: 800 })
  const pictureOf = (name: string) =>
    `data:image/png;base64,${readFileSync(join(FOLDER, `${name}.png`)).toString('base64')}`
  const frame = 'border-radius:8px;box-shadow:0 1px 6px rgb(0 0 0/.3);background:#fff top/cover no-repeat'
  await page.setContent(`<body style="margin:0;padding:24px;background:#dde3ea;display:flex;gap:24px;box-sizing:border-box;height:800px">
    <div style="flex:540;${frame};background-image:url(${pictureOf('mail-daily')})"></div>
    <div style="flex:788;${frame};background-image:url(${pictureOf('dashboard-status')})"></div>`)
  await page.waitForTimeout(500)
  save('mail-and-dashboard.png', await page.screenshot())
}

/** Returns the HTML of a mail with its pictures embedded, so that it looks as in a mail program. */
function withImages({ html = '', attachments }: Email): string {
  return attachments.reduce((page, { contentId, mimeType, content }) => {
    const id = contentId?.slice(1, -1)
    if (id === undefined || typeof content === 'string') return page
    return page.replaceAll(
      `cid:${id}`,
      `data:${mimeType};base64,${Buffer.from(new Uint8Array(content)).toString('base64')}`,
    )
  }, html)
}

function save(file: string, content: Buffer | string): void {
  const path = join(FOLDER, file)
  if (typeof content === 'string') writeFileSync(path, content)
  // A dark picture is saved without a palette, because a palette would merge similar dark colours.
  else if (file.includes('dark')) writeFileSync(path, content)
  else saveReference(content, path)
  process.stdout.write(`${file}: ${Math.round(statSync(path).size / 1024)} kB\n`)
}
