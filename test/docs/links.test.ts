/** Links, anchors and pictures of the documentation exist, and README.md leads to each of its pages. */
import { existsSync, globSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, normalize, relative } from 'node:path'
import { describe, expect, it } from 'vitest'
import { listAnchors, listElementNames, listTargets } from '../support/docs/markdown.ts'

const PAGES = globSync(['*.md', 'deploy/**/*.md', 'docs/**/*.md'], {
  exclude: (path) => path.includes('node_modules'),
}).sort()
const PICTURES_MAX_BYTES = 3 * 1024 ** 2
const PICTURE_MAX_BYTES = 300 * 1024
/** The HTML elements that both GitHub and the site show. */
const ELEMENTS = new Set(['a', 'br', 'details', 'summary', 'img', 'kbd', 'sub', 'sup'])

const texts = new Map(PAGES.map((path) => [path, readFileSync(path, 'utf8')]))

interface Link {
  readonly written: string
  /** The path from the root of the repository. */
  readonly path: string
  readonly anchor: string | undefined
}

function linksOf(page: string): Link[] {
  return listTargets(texts.get(page) ?? '')
    .filter((target) => !/^[a-z]+:/.test(target))
    .map((written) => {
      const [path = '', anchor] = decodeURI(written).split('#')
      // A link of a card on the first page of the site.
      if (path.startsWith('/')) return { written, path: `docs${path}.md`, anchor }
      return { written, path: path === '' ? page : normalize(join(dirname(page), path)), anchor }
    })
}

function isDead({ path, anchor }: Link): boolean {
  if (path.startsWith('..') || !existsSync(path)) return true
  if (anchor === undefined) return false
  return !listAnchors(readFileSync(path, 'utf8')).has(anchor)
}

describe('the pages', () => {
  it('link only to what is there, by the anchors of GitHub', () => {
    const dead = PAGES.flatMap((page) =>
      linksOf(page)
        .filter(isDead)
        .map(({ written }) => `${page}: ${written}`),
    )
    expect(dead).toEqual([])
  })

  it('are all found by following links from README.md', () => {
    const found = new Set(['README.md'])
    for (const page of found) for (const { path } of linksOf(page)) if (texts.has(path)) found.add(path)
    expect(
      PAGES.filter((page) => page.startsWith('docs/') && page !== 'docs/index.md' && !found.has(page)),
    ).toEqual([])
  })

  it('are of Markdown, but for a few elements', () => {
    const others = PAGES.flatMap((page) =>
      listElementNames(texts.get(page) ?? '')
        .filter((name) => !ELEMENTS.has(name))
        .map((name) => `${page}: <${name}>`),
    )
    expect(others).toEqual([])
  })
})

describe('the pictures', () => {
  const pictures = globSync('docs/**/*.{png,svg,gif}', {
    exclude: (path) => /node_modules|\.vitepress/.test(path),
  })

  it('are all on a page', () => {
    const shown = new Set(PAGES.flatMap((page) => linksOf(page).map(({ path }) => path)))
    expect(pictures.filter((picture) => !shown.has(relative('.', picture)))).toEqual([])
  })

  it('are small', () => {
    const sizes = pictures.map((picture) => ({ picture, bytes: statSync(picture).size }))
    expect(sizes.filter(({ bytes }) => bytes > PICTURE_MAX_BYTES)).toEqual([])
    expect(sizes.reduce((sum, { bytes }) => sum + bytes, 0)).toBeLessThan(PICTURES_MAX_BYTES)
  })
})
