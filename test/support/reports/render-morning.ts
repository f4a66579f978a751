/** Renders the mail of a morning with the templates of the product. */
import { join } from 'node:path'
import { composeReport } from '../../../src/report/compose-report.ts'
import { openTemplates } from '../../../src/report/render/templates.ts'
import { createLocaleContext, nameReport } from '../../../src/report/words/locale-context.ts'
import { CONTEXT } from './figures.ts'
import type { Morning } from './mornings.ts'

const NOW = '2026-11-21T05:04:00.000Z'
const templates = openTemplates(join(import.meta.dirname, '../../../templates'))

export interface Rendered {
  readonly subject: string
  readonly preheader: string
  readonly html: string
  readonly text: string
}

export async function renderMorning({ template, figures, making }: Morning, tag: string): Promise<Rendered> {
  const opened = await templates
  const locale = createLocaleContext(tag, 'Europe/Berlin', making.now ?? NOW)
  const context = {
    ...CONTEXT,
    chart: null,
    title: nameReport(template, locale),
    blocks: opened.definition(template).blocks,
    ...making.context,
  }
  const view = composeReport(figures, locale, context)
  return { ...opened.render(template, view), preheader: view.preheader }
}
