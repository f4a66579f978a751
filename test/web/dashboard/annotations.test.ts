/** The page of annotations: its form, and the refused input. */
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { listAnnotations } from '../../../src/store/insight/annotation.ts'
import { findBarriers } from '../../look/support/axe.ts'
import { wordsOf } from '../../support/report.ts'
import { lead, save } from '../../support/store.ts'
import { hasBrowser, openBrowser } from '../../support/web/browser.ts'
import { AS_BROWSER, act, ask, NOW, openDashboard, signIn, TOKEN } from '../../support/web/dashboard.ts'

async function open() {
  const dashboard = await openDashboard(`token: ${TOKEN}`)
  await save(dashboard.store, [lead('1', { pipelineId: 'p1' })], '2026-11-19T10:00:00Z')
  const session = await signIn(dashboard.url)
  const page = async (path = '/annotations') =>
    (await ask(`${dashboard.url}${path}`, { headers: { ...AS_BROWSER, cookie: session.cookie } })).text
  return {
    ...dashboard,
    session,
    page,
    /** Sends a form and returns the message that follows. */
    act: async (path: string, form: Readonly<Record<string, string>>) => {
      await act(dashboard.url, path, session, { back: '/annotations', ...form })
      const [, how, told] = /<div class="message (\w+)" role="\w+"><p>(.*?)<\/p>/.exec(await page()) ?? []
      return `${how}: ${wordsOf(told ?? '')}`
    },
  }
}

describe('the page of annotations', () => {
  it('writes, lists and removes them, for those who are signed in', async () => {
    const { act, page, store } = await open()
    expect(wordsOf(await page())).toContain('No day is noted.')
    const form = { first: '2026-11-13', last: '2026-11-14', text: ' a <b>campaign</b> ', pipeline: 'p1' }
    expect(await act('/actions/annotate', { ...form, effect: 'left_out' })).toBe(
      'ok: Noted: a <b>campaign</b>. Reports from now on know it.',
    )
    await act('/actions/annotate', { first: '2026-11-10', last: '', text: 'fair', effect: 'only_mark' })
    expect(await listAnnotations(store.db)).toMatchObject([
      { firstDay: '2026-11-10', lastDay: '2026-11-10', text: 'fair', pipelineId: null, isLeftOut: false },
      {
        firstDay: '2026-11-13',
        lastDay: '2026-11-14',
        text: 'a <b>campaign</b>',
        pipelineId: 'p1',
        isLeftOut: true,
        writtenBy: 'dashboard',
        writtenAt: NOW.toISOString(),
      },
    ])
    const html = await page()
    expect(html).not.toContain('<b>campaign')
    const words = wordsOf(html)
    expect(words).toContain('10 Nov 2026 fair all leads only marked')
    expect(words.indexOf('Nov 2026 a <b>campaign</b>')).toBeLessThan(words.indexOf('10 Nov 2026'))
    const [, annotation = ''] = /name="what" value="annotation(?:=|&#x3D;|&#61;)(\d+)"/.exec(html) ?? []
    expect(await act('/actions/remove-annotation', { annotation })).toBe(
      'ok: Removed: a <b>campaign</b>. Its days count again.',
    )
    expect(await listAnnotations(store.db)).toHaveLength(1)
  })

  it('says what is wrong with a form, and writes nothing', async () => {
    const { act, store } = await open()
    for (const [form, said] of [
      [{ first: '2026-11-14', last: '2026-11-13', text: 'x' }, 'expected the first day first'],
      [{ first: '', text: 'x' }, 'the day: found "", expected a date'],
      [{ first: '2026-11-13', text: ' ' }, 'the text: found nothing'],
      [{ first: '2026-11-13', text: 'x', pipeline: 'p9' }, 'There is no pipeline "p9"'],
    ] as const)
      expect(await act('/actions/annotate', form)).toMatch(new RegExp(`^fail: .*${said}`))
    expect(await act('/actions/remove-annotation', { annotation: '9' })).toMatch(
      /^fail: There is no annotation 9/,
    )
    expect(await act('/actions/remove-annotation', {})).toMatch(/^fail: annotation: found ""/)
    expect(await listAnnotations(store.db)).toEqual([])
  })

  it('takes no form without a session or its token', async () => {
    const { url, session, store } = await open()
    const form = { first: '2026-11-13', text: 'x' }
    const foreign = await act(url, '/actions/annotate', { ...session, formToken: 'wrong' }, form)
    expect(foreign.status).toBe(403)
    expect((await ask(`${url}/annotations`, { headers: AS_BROWSER })).text).not.toContain('Note a day')
    expect(await listAnnotations(store.db)).toEqual([])
  })
})

describe.skipIf(!hasBrowser)('in a browser', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await openBrowser()
  })
  afterAll(() => browser.close())

  it.each(['light', 'dark'] as const)(
    'the form notes a day, by keyboard, without barriers (%s)',
    async (scheme) => {
      const { url, store } = await open()
      for (const width of [1280, 375]) {
        const context = await browser.newContext({ viewport: { width, height: 800 }, colorScheme: scheme })
        const page = await context.newPage()
        await page.goto(`${url}/annotations`)
        await page.fill('input[name="token"]', TOKEN)
        await page.keyboard.press('Enter')
        await page.getByRole('heading', { name: 'Note a day' }).waitFor()
        await page.getByLabel('What was different').fill(`campaign ${width}`)
        await page.keyboard.press('Enter')
        await page.getByText(`Noted: campaign ${width}.`).waitFor()
        expect(await findBarriers(page)).toEqual([])
        expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width)
        const folder = process.env['PICTURES']
        if (folder)
          await page.screenshot({ path: `${folder}/annotations-${width}-${scheme}.png`, fullPage: true })
        await page
          .getByRole('button', { name: /^Remove/ })
          .first()
          .click()
        await page.getByText(`Removed: campaign ${width}.`).waitFor()
        await context.close()
      }
      expect(await listAnnotations(store.db)).toEqual([])
    },
  )
})
