import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { LeadsheetError } from '../../../src/errors.ts'
import { openTemplates } from '../../../src/report/render/templates.ts'
import { folderWith } from '../../support/folder.ts'
import { BARE_PAGE, compose, REPORTS, renderReport, TEMPLATES_FOLDER } from '../../support/report.ts'
import { busyDay, busyWeek, hostileDay, wideDay } from '../../support/reports/figures.ts'

const view = compose(busyDay())

describe('a rendered report', () => {
  it.each([
    ['busy', busyDay(), {}],
    ['week', busyWeek(), { locale: 'de-DE' }],
  ])('is the same page to the letter: %s', async (name, figures, making) => {
    const { html } = renderReport(figures, making)
    const lines = html.replace(/></g, '>\n<').replace(/[ \t]+$/gm, '')
    await expect(lines).toMatchFileSnapshot(`golden/page-${name}.html`)
  })

  it('keeps the columns of its text part, however long the names in it are', () => {
    const { text } = renderReport(longNamed('North America and the rest of the world'))
    const numbers = text.split('\n').filter((line) => /^(?!New ).* 1,284,567 .*%/.test(line))
    expect(numbers.length).toBeGreaterThan(5)
    expect(new Set(numbers.map((line) => line.indexOf('1,284,567'))).size).toBeLessThanOrEqual(2)
    expect(numbers.filter((line) => line.length > 72)).toEqual([])
  })

  it('is not cut with lists full of what has to be escaped', () => {
    const { html } = renderReport(hostileDay('<script>alert("x")</script> & '.repeat(200)))
    expect(Buffer.byteLength(html)).toBeLessThan(100_000)
  })

  it('keeps its text part within 72 columns, and leaves no gap where a block is empty', () => {
    for (const { figures, making } of REPORTS) {
      const { text } = renderReport(figures, making)
      expect(text.split('\n').filter((line) => line.length > 72)).toEqual([])
      expect(text).not.toMatch(/\n{3}|[ \t]\n/)
    }
  })
})

describe('the templates', () => {
  const files = globSync('**/*.hbs', { cwd: TEMPLATES_FOLDER })
  const sources = files.map((file) => ({ file, text: readFileSync(join(TEMPLATES_FOLDER, file), 'utf8') }))
  const pages = sources.filter(({ file }) => !/(?:subject|text)\.hbs$|\.text\.hbs$/.test(file))

  it.each(sources)('$file lets nothing through unescaped', ({ text }) => {
    expect(text).not.toMatch(/\{\{\{|\{\{&/)
  })

  it.each(pages)('$file quotes every attribute', ({ text }) => {
    const tags = text
      .replace(/<!--.*?-->|\{\{!--.*?--\}\}/gs, '')
      .replace(/\{\{(?:[#/]|else).*?\}\}/g, '')
      .replace(/\{\{.*?\}\}/g, 'x')
      .match(/<[a-z][^>]*>/g)
    const attribute =
      /\s+(?:[\w:-]+="[^"]*"|autofocus|download|hidden|open|readonly|required|sandbox|selected)(?=[\s/>])/g
    for (const tag of tags ?? []) expect(tag.replace(attribute, '')).toMatch(/^<[a-z0-9]+\s*\/?>$/)
  })

  it.each(pages)('$file has no expression in a style, a script or an address', ({ text: whole }) => {
    const text = whole.replace(/"\{\{safe(?:Url|Path|Link|Image) [^}"]*\}\}"/g, '""')
    expect(text).not.toMatch(/(?:style|href|src|on\w+)="[^"]*\{\{/)
    expect(text).not.toMatch(/<(?:script|style)[^>]*>[^<]*\{\{/)
  })

  it('ask the view for nothing that it does not have, in conditions and lists too', async () => {
    const templates = await openTemplates(TEMPLATES_FOLDER)
    for (const { figures, making } of REPORTS) {
      const strict = strictly(compose(figures, making))
      expect(() => templates.render('daily', strict)).not.toThrow()
    }
    const misspelt = strictly({ ...view, summary: undefined, verdikt: view.summary })
    expect(() => templates.render('daily', misspelt)).toThrow('summary')
  })

  it('are listed by name', async () => {
    const templates = await openTemplates(TEMPLATES_FOLDER)
    expect(templates.names()).toEqual(['daily', 'monthly', 'quarterly', 'weekly'])
    expect(() => templates.render('yearly', view)).toThrow(
      expect.objectContaining({
        code: 'report_unknown',
        hint: 'Known reports: daily, monthly, quarterly, weekly.',
      }),
    )
  })
})

describe('a mistake in a template', () => {
  it('is named with file and line before anything is rendered, or when it is rendered', async () => {
    const mistakes: readonly Readonly<Record<string, string>>[] = [
      { 'daily/text.hbs': 'one\n{{#if title}}\nthree' },
      { 'layout/page.hbs': 'one\n{{shout label}}' },
      { 'daily/subject.hbs': '{{title' },
      // A part that there is not, also where it is not reached.
      { 'daily/html.hbs': 'one\n{{#if title}}{{else}}{{> lead}}\n{{> tabel}}{{/if}}' },
      ...['subjct.hbs', 'report.yml', 'phone.css'].map((file) => ({ [`mine/${file}`]: 'title: Mine' })),
      { 'daily/html.hbs': '<tr>\n<td>\n{{titel}}</td></tr>' },
      { 'daily/text.hbs': 'one\n\n{{#if title}}{{upper titel}}{{/if}}' },
      { 'daily/text.hbs': 'one\n{{#each leads}}{{kind}}{{/each}}' },
      { 'daily/text.hbs': '{{#each blocks}}{{> (lookup this "knd")}}{{/each}}' },
      { 'daily/subject.hbs': '{{#if note}}{{note}}{{/if}}\n' },
    ]
    const told: string[] = []
    for (const files of mistakes) {
      const own = folderWith(files)
      const opened = await openTemplates(TEMPLATES_FOLDER, { own }).catch((error: LeadsheetError) => error)
      let failure = opened instanceof Error ? opened : null
      const when = failure === null ? 'when rendered' : 'before'
      try {
        if (!(opened instanceof Error)) opened.render('daily', view)
      } catch (error) {
        failure = error as LeadsheetError
      }
      const message = failure?.message.replaceAll(own, 'OWN').replaceAll(TEMPLATES_FOLDER, 'TEMPLATES')
      told.push(`${JSON.stringify(files)}\n  ${when}: ${failure?.code} ${message}\n`)
    }
    await expect(told.join('')).toMatchFileSnapshot('golden/mistakes.txt')
  })

  it('in a report that is not asked for stops nothing', async () => {
    const own = folderWith({ 'draft/text.hbs': '{{#if' })
    await expect(openTemplates(TEMPLATES_FOLDER, { own })).rejects.toThrow('draft/text.hbs')
    const templates = await openTemplates(TEMPLATES_FOLDER, { own, only: ['daily'] })
    expect(templates.names()).toEqual(['daily', 'draft', 'monthly', 'quarterly', 'weekly'])
  })

  it('of a missing folder or file is named', async () => {
    const missing = join(folderWith(), 'nowhere')
    const message = expect.stringContaining(`templates cannot be read from ${missing}: `)
    await expect(openTemplates(TEMPLATES_FOLDER, { own: missing })).rejects.toMatchObject({
      code: 'report_template',
      message,
    })
    await expect(openTemplates(folderWith({ 'daily/html.hbs': '' }))).rejects.toThrow(
      'template layout/page.hbs is missing',
    )
  })
})

describe('an own folder', () => {
  const render = async (own: Readonly<Record<string, string>>, name: string, shown: object) =>
    (await openTemplates(TEMPLATES_FOLDER, { own: folderWith(own) })).render(name, shown)

  it('goes before that of the program, file by file', async () => {
    const mine = await render({ 'daily/subject.hbs': 'Mine: {{title}}' }, 'daily', view)
    expect(mine.subject).toBe('Mine: Daily leads')
    expect(mine.text).toBe(renderReport(busyDay()).text)
  })

  it('may leave out every template: subject, page and text are then those of the layout', async () => {
    const own = {
      'mine/report.yaml': '',
      'mine/blocks/hello.html.hbs': '<tr><td class="head">Hello {{name}}</td></tr>',
      'mine/blocks/hello.text.hbs': 'Hello {{name}}',
    }
    const mine = await render(own, 'mine', { ...BARE_PAGE, blocks: [{ kind: 'hello', name: '<Ana & Ben>' }] })
    expect(mine.subject).toContain('Mine')
    expect(mine.html).toMatch(/Hello &lt;Ana &amp; Ben&gt;/)
    expect(mine.text).toContain('Hello <Ana & Ben>')
  })

  it('has its parts nearest to the report that it is of', async () => {
    const own = {
      'one/html.hbs': '<tr><td>{{> greeting}}</td></tr>',
      'two/html.hbs': '<tr><td>{{> greeting}}</td></tr>',
      'blocks/greeting.html.hbs': 'Dear all',
      'two/blocks/greeting.html.hbs': 'Dear two',
    }
    expect((await render(own, 'one', { ...BARE_PAGE, blocks: [] })).html).toContain('Dear all')
    expect((await render(own, 'two', { ...BARE_PAGE, blocks: [] })).html).toContain('Dear two')
  })

  it('adds its styles behind those of the layout', async () => {
    const own = {
      'daily/styles.css': 'h1 { color: #123456; }',
      'layout/dark.css': '@media (prefers-color-scheme: dark) { h1 { color: #abcdef !important; } }',
    }
    const { html } = await render(own, 'daily', view)
    expect(html).toMatch(/<h1 style="[^"]*color: ?#123456/)
    expect(html).toMatch(/<h1 style="[^"]*font-weight/)
    expect(html).toContain('#abcdef')
    expect(html).toContain('.bg {')
  })

  it('has addresses only of the web and of mail', async () => {
    const links = [
      'https://example.com/a?b=1',
      'mailto:ana@example.com',
      'javascript:alert(1)',
      ' data:text/html,x',
    ]
    const html = '<tr><td>{{#each links}}<a href="{{safeUrl this}}">x</a>{{/each}}</td></tr>'
    const mine = await render({ 'mine/html.hbs': html }, 'mine', { ...BARE_PAGE, blocks: [], links })
    expect([...mine.html.matchAll(/href="([^"]*)"/g)].map(([, address]) => address)).toEqual([
      'https://example.com/a?b=1',
      'mailto:ana@example.com',
      '#',
      '#',
    ])
  })
})

/** Returns the same view, but unknown names throw. Handlebars accepts them in `#if` and `#each`. */
function strictly<T extends object>(plain: T): T {
  return new Proxy(plain, {
    get: (target, name, receiver) => {
      const value: unknown = Reflect.get(target, name, receiver)
      if (
        value === undefined &&
        typeof name === 'string' &&
        !Array.isArray(target) &&
        !ASKED_OF_ALL.has(name)
      ) {
        throw new Error(`the view has no ${name}`)
      }
      return typeof value === 'object' && value !== null ? strictly(value) : value
    },
  })
}

/** The names that Handlebars itself looks up in any value. */
const ASKED_OF_ALL = new Set(['then', 'toHTML', 'toJSON', 'constructor', 'length'])

function longNamed(name: string) {
  const wide = wideDay()
  return {
    ...wide,
    byPipeline: wide.byPipeline.map((line, index) => (index === 0 ? line : { ...line, name })),
    funnel: { ...wide.funnel, stages: wide.funnel.stages.map((stage) => ({ ...stage, status: name })) },
  }
}
