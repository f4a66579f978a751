import { globSync, readFileSync } from 'node:fs'
import { cp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { composeDaily } from '../../src/report/daily.ts'
import { openTemplates } from '../../src/report/templates.ts'
import { busyDay, CONTEXT, hostileDay } from '../support/figures.ts'
import { folderWith } from '../support/folder.ts'
import { DAYS, renderDaily, TEMPLATES_FOLDER } from '../support/report.ts'

const view = composeDaily(busyDay(), CONTEXT)

describe('a rendered report', () => {
  it('has the rules for phones and for dark mode in blocks of their own', () => {
    const { html } = renderDaily(busyDay())
    const blocks = [...html.matchAll(/<style>(.*?)<\/style>/gs)].map(([, css]) => css ?? '')
    const [mobile, dark] = blocks.slice(-2)
    expect(mobile).toContain('@media only screen and (max-width: 480px)')
    expect(dark).toContain('@media (prefers-color-scheme: dark)')
    for (const css of blocks) expect(css.length).toBeLessThan(16_000)
  })

  it('carries its styles on its elements', () => {
    const { html } = renderDaily(busyDay())
    expect(html).toMatch(/<h1 style="[^"]*font-size: ?21px/)
    expect(html).not.toMatch(/rgba?\(|var\(|@import|url\(/)
  })

  it('has the subject for a title, and says its language', () => {
    const { subject, html } = renderDaily(busyDay())
    expect(html).toContain(`<title>${subject}</title>`)
    expect(html).toMatch(/<html lang="en" dir="ltr"/)
    expect(html).toMatch(/<div role="article" aria-roledescription="email" aria-label="Daily leads: 59 new/)
  })

  it('gives every layout table its role and every data table its headings', () => {
    for (const [table] of renderDaily(busyDay()).html.matchAll(/<table[^>]*>(?:<thead>)?/g)) {
      expect(table).toMatch(/role="presentation"|<thead>/)
    }
  })

  it.each(DAYS)('is far from the size at which mails are cut on a $name day', ({ figures, context }) => {
    expect(Buffer.byteLength(renderDaily(figures, context).html)).toBeLessThan(80_000)
  })

  it('stays so with full lists of the longest names', () => {
    const { html } = renderDaily(hostileDay('<script>alert("x")</script> & '.repeat(200)))
    expect(Buffer.byteLength(html)).toBeLessThan(80_000)
  })

  it('keeps its text part within 72 columns', () => {
    for (const { figures, context } of DAYS) {
      const long = renderDaily(figures, context)
        .text.split('\n')
        .filter((line) => line.length > 72)
      expect(long).toEqual([])
    }
  })

  it('leaves no gap where a block is empty', () => {
    for (const { figures, context } of DAYS)
      expect(renderDaily(figures, context).text).not.toMatch(/\n{3}|[ \t]\n/)
  })

  it('is the same whenever it is rendered', () => {
    expect(renderDaily(busyDay())).toEqual(renderDaily(busyDay()))
  })
})

describe('the templates', () => {
  const files = globSync('**/*.hbs', { cwd: TEMPLATES_FOLDER })
  const sources = files.map((file) => ({ file, text: readFileSync(join(TEMPLATES_FOLDER, file), 'utf8') }))
  const pages = sources.filter(({ file }) => !/(?:subject|text)\.hbs$/.test(file))

  it('are all looked at', () => {
    expect(files.length).toBeGreaterThanOrEqual(6)
  })

  it.each(sources)('$file lets nothing through unescaped', ({ text }) => {
    expect(text).not.toMatch(/\{\{\{|\{\{&/)
  })

  it.each(pages)('$file quotes every attribute', ({ text }) => {
    const tags = text
      .replace(/<!--.*?-->|\{\{!--.*?--\}\}/gs, '')
      .replace(/\{\{.*?\}\}/g, 'x')
      .match(/<[a-z][^>]*>/g)
    for (const tag of tags ?? []) expect(tag).toMatch(/^<[a-z0-9]+(?:\s+[\w:-]+="[^"]*")*\s*>$/)
  })

  it.each(pages)('$file has no expression in a style, a script or an address', ({ text }) => {
    expect(text).not.toMatch(/(?:style|href|src|on\w+)="[^"]*\{\{/)
    expect(text).not.toMatch(/<(?:script|style)[^>]*>[^<]*\{\{/)
  })

  it('ask the view for nothing that it does not have, in conditions and lists too', async () => {
    const templates = await openTemplates(TEMPLATES_FOLDER)
    for (const { figures, context } of DAYS) {
      const strict = strictly(composeDaily(figures, context))
      expect(() => templates.render('daily', strict)).not.toThrow()
    }
    const misspelt = strictly({ ...view, kpis: undefined, kpi: view.kpis })
    expect(() => templates.render('daily', misspelt)).toThrow('kpis')
  })

  it('are listed by name', async () => {
    const templates = await openTemplates(TEMPLATES_FOLDER)
    expect(templates.names()).toEqual(['daily'])
    expect(() => templates.render('weekly', view)).toThrow(
      expect.objectContaining({ code: 'report_unknown', hint: 'Known reports: daily.' }),
    )
  })
})

describe('a mistake in a template', () => {
  async function openWith(files: Readonly<Record<string, string>>) {
    const folder = folderWith()
    await cp(TEMPLATES_FOLDER, folder, { recursive: true })
    for (const [path, content] of Object.entries(files)) {
      await writeFile(join(folder, path), content)
    }
    return openTemplates(folder)
  }

  it('of writing is named with file and line before anything is rendered', async () => {
    await expect(openWith({ 'daily/text.hbs': 'one\n{{#if title}}\nthree' })).rejects.toMatchObject({
      code: 'report_template',
      message: expect.stringMatching(/^template daily\/text\.hbs, line 3: /),
    })
  })

  it('of a name is named with file and line, in a part of the page too', async () => {
    const templates = await openWith({ 'daily/html.hbs': '<tr>\n<td>\n{{titel}}</td></tr>' })
    expect(() => templates.render('daily', view)).toThrow(
      expect.objectContaining({
        code: 'report_template',
        message: 'template daily/html.hbs, line 3: "titel" not defined',
      }),
    )
  })

  it('of a helper that there is not is named with its file', async () => {
    await expect(openWith({ 'layout/kpi.hbs': 'one\n{{shout label}}' })).rejects.toMatchObject({
      code: 'report_template',
      message: expect.stringMatching(/^template layout\/kpi\.hbs.*shout/),
    })
  })

  it('of a missing folder is named', async () => {
    const folder = folderWith({ 'daily/html.hbs': '' })
    for (const missing of [join(folder, 'layout'), join(folder, 'nowhere')]) {
      const opening = openTemplates(missing.endsWith('layout') ? folder : missing)
      await expect(opening).rejects.toMatchObject({
        code: 'report_template',
        message: expect.stringContaining(`templates cannot be read from ${missing}: `),
      })
    }
  })

  it('of a missing file is named', async () => {
    const folder = folderWith()
    await cp(TEMPLATES_FOLDER, folder, { recursive: true })
    await rm(join(folder, 'daily', 'text.hbs'))
    await expect(openTemplates(folder)).rejects.toMatchObject({
      code: 'report_template',
      message: expect.stringContaining('text.hbs is missing'),
    })
  })
})

/** The same view, but a name that it does not have throws; Handlebars lets them pass in `#if` and `#each`. */
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

/** What Handlebars itself looks for in any value. */
const ASKED_OF_ALL = new Set(['then', 'toHTML', 'toJSON', 'constructor', 'length'])
