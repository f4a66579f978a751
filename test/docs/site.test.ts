// @long
/** The site as built from all pages: complete, independent of other sites, and without dead links. */
import { execFile } from 'node:child_process'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { extname, join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it, onTestFinished } from 'vitest'
import { folderWith } from '../support/folder.ts'
import { isSkippedButInCi } from '../support/process/programs.ts'
import { hasBrowser, openBrowser } from '../support/web/browser.ts'

const VITEPRESS = 'docs/node_modules/vitepress/bin/vitepress.js'
const REPOSITORY = 'https://git.example.com/leadsheet'
const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
}

const isMissing = isSkippedButInCi('the site', existsSync(VITEPRESS) ? null : 'npm ci --prefix docs')

it.skipIf(isMissing || !hasBrowser)(
  'is built, searched and read without a request to anybody else',
  async () => {
    const site = folderWith()
    await promisify(execFile)(process.execPath, [VITEPRESS, 'build', 'docs', '--outDir', site], {
      env: { ...process.env, DOCS_REPOSITORY: REPOSITORY },
    })
    const pages = globSync('docs/*/*.md', { exclude: (path) => /node_modules|\.vitepress/.test(path) })
    const built = new Set(globSync('**/*.html', { cwd: site }))
    const missing = pages.filter((path) => !built.has(path.replace(/^docs\/(.*)\.md$/, '$1.html')))
    expect(missing).toEqual([])

    const url = await serve(site)
    await using browser = await openBrowser()
    await using page = await browser.newPage({ colorScheme: 'dark', viewport: { width: 1280, height: 900 } })
    const others: string[] = []
    const mistakes: string[] = []
    page.on('request', (request) => {
      if (!request.url().startsWith(url) && !request.url().startsWith('data:')) others.push(request.url())
    })
    page.on('pageerror', (error) => mistakes.push(String(error)))
    page.on('response', (response) => {
      if (response.status() >= 400 && !response.url().endsWith('/favicon.ico')) mistakes.push(response.url())
    })
    await page.goto(`${url}/`)
    expect(await page.evaluate('document.documentElement.className')).toContain('dark')
    await page.getByRole('button', { name: 'Search' }).click()
    await page.getByRole('searchbox').fill('sync')
    await page.locator('.result').first().click()
    await page.locator('.VPDoc h1').waitFor()
    const edit = await page.getByRole('link', { name: 'Edit this page' }).getAttribute('href')
    expect(edit).toMatch(/^https:\/\/git\.example\.com\/leadsheet\/edit\/main\/docs\/[\w-]+\/[\w.-]+\.md$/)
    expect({ others, mistakes }).toEqual({ others: [], mistakes: [] })
  },
)

/** @returns the address of a server for the folder, which ends with the test */
async function serve(folder: string): Promise<string> {
  const server = createServer(({ url = '/' }, response) => {
    const { pathname } = new URL(url, 'http://localhost')
    const file = join(folder, pathname.endsWith('/') ? `${pathname}index.html` : pathname)
    if (!existsSync(file)) return response.writeHead(404).end()
    return response
      .writeHead(200, { 'content-type': TYPES[extname(file)] ?? 'application/octet-stream' })
      .end(readFileSync(file))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}
