import { expect, it } from 'vitest'
import { BLOCKS } from '../../src/domain/choices.ts'
import { checkRendered } from '../../src/report/render/templates.ts'
import { compose, renderReport } from '../support/report.ts'
import { busyDay } from '../support/reports/figures.ts'

it('a part is told of which the words fail, while a headline that fails ends the report', () => {
  const damaged = { ...busyDay(), bySource: JSON.parse('[null]') }
  const { blocks } = compose(damaged)
  expect(blocks).toContainEqual(expect.objectContaining({ kind: 'failed', title: 'Sources' }))
  expect(() => compose({ ...busyDay(), newLeads: JSON.parse('null') })).toThrow()
})

it('what the templates have made is refused without a text, and without the headline, though the preheader has it, unless nobody wants it', () => {
  const view = compose(busyDay())
  const rendered = renderReport(busyDay())
  const headless = { ...rendered, html: rendered.html.replace(/<h1.*?<\/h1>/s, '') }
  expect(() => checkRendered(headless, view, 'daily')).toThrow(
    expect.objectContaining({
      code: 'report_failed',
      message: 'The report daily is not sent: its page lacks the headline',
    }),
  )
  expect(() => checkRendered({ ...rendered, text: '\n' }, view, 'daily')).toThrow('its text part is empty')
  const { blocks } = compose(busyDay(), { context: { blocks: BLOCKS.filter((name) => name !== 'headline') } })
  expect(() =>
    checkRendered({ ...headless, html: '<body></body>' }, { ...view, blocks }, 'daily'),
  ).not.toThrow()
})
