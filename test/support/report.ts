/** Reports as they are made for real, and what a reader sees of them. */
import { join } from 'node:path'
import type { DailyFigures, Rendered } from '../../src/model.ts'
import { composeDaily, type DailyContext } from '../../src/report/daily.ts'
import { openTemplates } from '../../src/report/templates.ts'
import { busyDay, CONTEXT, emptyDay, firstDay, QUIET_CONTEXT, quietDay, staleDay } from './figures.ts'

export const TEMPLATES_FOLDER = join(import.meta.dirname, '..', '..', 'templates')

const templates = await openTemplates(TEMPLATES_FOLDER)

export function renderDaily(figures: DailyFigures, context: DailyContext = CONTEXT): Rendered {
  return templates.render('daily', composeDaily(figures, context))
}

/** Every kind of day, with the moment of its report. */
export const DAYS: readonly { name: string; figures: DailyFigures; context: DailyContext }[] = [
  { name: 'busy', figures: busyDay(), context: CONTEXT },
  { name: 'quiet', figures: quietDay(), context: QUIET_CONTEXT },
  { name: 'stale', figures: staleDay(), context: CONTEXT },
  { name: 'first', figures: firstDay(), context: CONTEXT },
  { name: 'empty', figures: emptyDay(), context: CONTEXT },
]

/** The words of a page on one line, without what is only for the inbox. */
export function wordsOf(html: string): string {
  return html
    .replace(/<head>.*<\/head>/s, '')
    .replace(/<!--.*?-->/gs, '')
    .replace(/<div class="preheader".*?<\/div>/s, '')
    .replace(/<[^>]*>/g, ' ')
    .replace(/&nbsp;/g, ' ')
    .replace(/&lt;/g, '<')
    .replace(/&gt;/g, '>')
    .replace(/&quot;/g, '"')
    .replace(/&#x27;/g, "'")
    .replace(/&amp;/g, '&')
    .replace(/\s+/g, ' ')
    .trim()
}
