/** Makes reports with the program's own functions, and extracts what readers see. */
import { join } from 'node:path'
import { DEFAULT_LOCALE } from '../../src/domain/choices.ts'
import type { ReportFigures } from '../../src/domain/figures.ts'
import type { Rendered } from '../../src/domain/message.ts'
import type { Instant } from '../../src/domain/model.ts'
import { composeReport, type ReportView } from '../../src/report/compose-report.ts'
import type { BlockContext } from '../../src/report/context.ts'
import { openTemplates } from '../../src/report/render/templates.ts'
import { createLocaleContext, type LocaleContext } from '../../src/report/words/locale-context.ts'
import {
  busyDay,
  busyWeek,
  CONTEXT,
  dayWithProblems,
  emptyDay,
  firstDay,
  GENERATED_AT,
  QUIET_GENERATED_AT,
  quietDay,
  staleDay,
} from './reports/figures.ts'

export const TEMPLATES_FOLDER = join(import.meta.dirname, '..', '..', 'templates')

export const templates = await openTemplates(TEMPLATES_FOLDER)

export interface Making {
  readonly context?: Partial<BlockContext>
  readonly now?: Instant
  readonly locale?: string
}

export function localeContextOf({ locale = DEFAULT_LOCALE, now = GENERATED_AT }: Making = {}): LocaleContext {
  return createLocaleContext(locale, 'Europe/Berlin', now)
}

export function compose(figures: ReportFigures, making: Making = {}): ReportView {
  return composeReport(figures, localeContextOf(making), { ...CONTEXT, ...making.context })
}

export function renderReport(figures: ReportFigures, making: Making = {}): Rendered {
  return templates.render('daily', compose(figures, making))
}

/** Reports of every kind of day, and of a week, with the moment of each. */
export const REPORTS: readonly {
  readonly name: string
  readonly figures: ReportFigures
  readonly making: Making
}[] = [
  { name: 'busy', figures: busyDay(), making: {} },
  { name: 'quiet', figures: quietDay(), making: { now: QUIET_GENERATED_AT } },
  { name: 'stale', figures: staleDay(), making: {} },
  {
    name: 'problems',
    figures: dayWithProblems(),
    making: {
      context: {
        notMade: ['stalled.xlsx', 'by-industry.csv'],
        failed: [{ block: 'trend', query: null, message: 'the picture could not be drawn' }],
        resend: { at: '2026-11-21T08:30:00.000Z', first: '2026-11-21T06:00:00.000Z', reason: null },
      },
    },
  },
  { name: 'first', figures: firstDay(), making: {} },
  { name: 'empty', figures: emptyDay(), making: {} },
  { name: 'week', figures: busyWeek(), making: { now: '2026-11-23T05:04:00.000Z' } },
]

/** The words of a page around its blocks. */
export const BARE_PAGE = {
  lang: 'en',
  dir: 'ltr',
  preheader: '',
  title: 'Mine',
  subjectLine: 'Mine, today',
  footer: { lines: [], unsubscribe: null },
  summary: '',
  period: { long: '', short: '' },
}

const ENTITIES: Readonly<Record<string, string>> = {
  nbsp: ' ',
  lt: '<',
  gt: '>',
  quot: '"',
  '#x27': "'",
  amp: '&',
}

/** Returns the visible text of a page on one line, without the preview text for the inbox. */
export function wordsOf(html: string): string {
  return html
    .replace(/<head>.*<\/head>/s, '')
    .replace(/<!--.*?-->/gs, '')
    .replace(/<body[^>]*>\s*<div.*?<\/div>/s, '')
    .replace(/<[^>]*>/g, ' ')
    .replace(/&(nbsp|lt|gt|quot|#x27|amp);/g, (_, name: string) => ENTITIES[name] ?? '')
    .replace(/\s+/g, ' ')
    .trim()
}
