/**
 * The site of the documentation: `npm run --prefix docs site`. Its sidebar is made of the folders, in the order in which README.md links
 * the pages. `DOCS_REPOSITORY` is the address of the repository, for links to its files and for edit links; without one
 * there are none. `DOCS_BASE` is the path under which the site is served.
 */
import { copyFileSync, existsSync, globSync, mkdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { type DefaultTheme, defineConfig, type MarkdownRenderer } from 'vitepress'

type State = Parameters<Parameters<MarkdownRenderer['core']['ruler']['push']>[1]>[0]

const DOCS = join(import.meta.dirname, '..')
const ROOT = join(DOCS, '..')
const REPOSITORY = (process.env.DOCS_REPOSITORY ?? '').replace(/\/$/, '')
const SECTIONS = {
  tutorials: 'Tutorials',
  'how-to': 'How to',
  reference: 'Reference',
  explanation: 'Explanation',
}
const readme = readFileSync(join(ROOT, 'README.md'), 'utf8')

// Or VitePress takes a link to a query for a page, and appends .html.
process.env.VITE_EXTRA_EXTENSIONS = 'sql'

export default defineConfig({
  title: 'leadsheet',
  description:
    'Keeps a local, queryable copy of a lead pipeline service and mails people a report that they read.',
  base: process.env.DOCS_BASE ?? '/',
  srcExclude: ['!(index).md', 'queries/**'],
  cleanUrls: false,
  // test/docs/links.test.ts and site.test.ts find dead links.
  ignoreDeadLinks: true,
  markdown: {
    anchor: { slugify: slugOf },
    config: (md) => md.core.ruler.push('links-to-files', linkFiles),
  },
  themeConfig: {
    search: { provider: 'local' },
    outline: [2, 3],
    nav: Object.entries(SECTIONS).flatMap(([folder, text]) => {
      const [first] = listPages(folder)
      return first === undefined ? [] : [{ text, link: first.link, activeMatch: `^/${folder}/` }]
    }),
    sidebar: Object.entries(SECTIONS).flatMap(([folder, text]) => {
      const items = listPages(folder)
      return items.length === 0 ? [] : [{ text, items, collapsed: false }]
    }),
    ...(REPOSITORY === ''
      ? {}
      : { editLink: { pattern: `${REPOSITORY}/edit/main/docs/:path`, text: 'Edit this page' } }),
  },
  buildEnd: ({ outDir }) => {
    for (const file of listFiles()) {
      mkdirSync(dirname(join(outDir, file)), { recursive: true })
      copyFileSync(join(DOCS, file), join(outDir, file))
    }
  },
})

function listPages(folder: string): (DefaultTheme.SidebarItem & { link: string })[] {
  const pages = globSync(`${folder}/*.md`, { cwd: DOCS }).sort(
    (a, b) => rank(a) - rank(b) || a.localeCompare(b),
  )
  return pages.map((path) => ({ text: titleOf(path), link: `/${path.replace(/\.md$/, '')}` }))
}

/** Where README.md links it; pages that it does not link come last. */
function rank(path: string): number {
  const found = readme.indexOf(`(docs/${path}`)
  return found === -1 ? readme.length : found
}

function titleOf(path: string): string {
  const [, title = path] = /^# (.*)$/m.exec(readFileSync(join(DOCS, path), 'utf8')) ?? []
  return title.replaceAll('`', '')
}

/** The anchor of a heading, as GitHub makes it. */
function slugOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{M}\p{N}\p{Pc}\- ]/gu, '')
    .replaceAll(' ', '-')
}

/** Files that pages link to and that are no pages, such as queries. */
function listFiles(): string[] {
  return globSync('{explanation,queries,reference}/**/*.{sql,json}', { cwd: DOCS })
}

/** Leads a link to a file outside of this folder to the repository; without an address of it, only its text stays. */
function linkFiles(state: State): void {
  const folder = dirname(join(DOCS, state.env.relativePath ?? ''))
  for (const { children } of state.tokens) {
    let isText = false
    for (const token of children ?? []) {
      // Or Vue takes the braces of a template for its own.
      if (token.type === 'code_inline') token.attrSet('v-pre', '')
      if (token.type === 'link_open') {
        const [path = '', anchor] = (token.attrGet('href') ?? '').split('#')
        const target = join(folder, decodeURI(path))
        const isOutside = !/^(?:[a-z]+:|\/|$)/.test(path) && relative(DOCS, target).startsWith('..')
        if (!isOutside) continue
        if (!existsSync(target))
          throw new Error(`${state.env.relativePath} links to ${path}, which is not there`)
        const file = relative(ROOT, target)
        if (file === 'README.md') token.attrSet('href', relative(folder, join(DOCS, 'index.md')))
        else if (REPOSITORY !== '')
          token.attrSet('href', `${REPOSITORY}/blob/main/${file}${anchor ? `#${anchor}` : ''}`)
        else {
          isText = true
          Object.assign(token, { tag: 'span', attrs: [['title', `${file} in the repository`]] })
          token.type = 'span_open'
        }
      } else if (token.type === 'link_close' && isText) {
        Object.assign(token, { tag: 'span', type: 'span_close' })
        isText = false
      }
    }
  }
}
