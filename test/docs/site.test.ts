// @long
/** The site as built from all pages: complete, and without dead links. */
import { execFile } from 'node:child_process'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { folderWith } from '../support/folder.ts'
import { isSkippedButInCi } from '../support/process/programs.ts'

const VITEPRESS = 'docs/node_modules/vitepress/bin/vitepress.js'
const REPOSITORY = 'https://git.example.com/leadsheet'
const isMissing = isSkippedButInCi('the site', existsSync(VITEPRESS) ? null : 'npm ci --prefix docs')

it.skipIf(isMissing)('is built of every page, without dead links', async () => {
  const site = folderWith()
  await promisify(execFile)(process.execPath, [VITEPRESS, 'build', 'docs', '--outDir', site], {
    env: { ...process.env, DOCS_REPOSITORY: REPOSITORY },
  })
  const pages = globSync('docs/*/*.md', { exclude: (path) => /node_modules|\.vitepress/.test(path) })
  const built = globSync('**/*.html', { cwd: site })
  const expected = pages.map((path) => path.replace(/^docs\/(.*)\.md$/, '$1.html'))
  expect(built).toEqual(expect.arrayContaining(expected))
  expect(built.flatMap((page) => findDeadLinks(site, page))).toEqual([])
})

/** Returns the links and pictures of a built page that lead to no file of the site or of the repository. */
function findDeadLinks(site: string, page: string): string[] {
  const html = readFileSync(join(site, page), 'utf8')
  const targets = [...html.matchAll(/<(?:a|img|link|script)\b[^>]*? (?:href|src)="([^"]*)"/g)]
  return targets.flatMap(([, target = '']) => {
    const [path = '', anchor] = target.split('#')
    const inRepository = /^https:\/\/git\.example\.com\/leadsheet\/(?:blob|edit)\/main\/(.*)$/.exec(path)?.[1]
    if (inRepository !== undefined) return existsSync(inRepository) ? [] : [`${page}: ${target}`]
    if (/^[a-z]+:/.test(path)) return []
    const folder = path.startsWith('/') ? site : join(site, page, '..')
    const file =
      path === '' ? join(site, page) : join(folder, path.endsWith('/') ? `${path}index.html` : path)
    const isThere =
      existsSync(file) &&
      (anchor === undefined || readFileSync(file, 'utf8').includes(`id="${decodeURI(anchor)}"`))
    return isThere ? [] : [`${page}: ${target}`]
  })
}
