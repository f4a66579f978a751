/** The mails that are looked at: every kind of report, as it is really made. */
import { DEFAULT_LOCALE } from '../../src/choices.ts'
import type { ReportFigures } from '../../src/figures.ts'
import type { Rendered } from '../../src/model.ts'
import { drawCharts, findCharts } from '../../src/report/charts/draw.ts'
import { chartLabels } from '../../src/report/charts/labels.ts'
import { busyDay, busyWeek, hostileDay } from '../support/figures.ts'
import { type Making, REPORTS, renderReport, voiceOf } from '../support/report.ts'

export interface MailPage {
  readonly name: string
  readonly rendered: Rendered
  /** PNG files by the content id that the page asks for. */
  readonly images: ReadonlyMap<string, Uint8Array>
}

async function makePage(name: string, figures: ReportFigures, making: Making = {}): Promise<MailPage> {
  const files = await drawCharts(figures, chartLabels(voiceOf(making)))
  const charts = findCharts(files, (file) => `cid:${file}`)
  return {
    name,
    rendered: renderReport(figures, { ...making, context: { ...making.context, charts } }),
    images: new Map(files.map((file) => [file.name, file.content])),
  }
}

export const PAGES: readonly MailPage[] = await Promise.all(
  REPORTS.map(({ name, figures, making }) => makePage(name, figures, making)),
)

/** Full lists of names as long as any can get. */
export const OVERLONG: MailPage = await makePage(
  'overlong',
  hostileDay(`${'W'.repeat(300)} Donaudampfschifffahrtsgesellschaft`),
)

const MONDAY = '2026-11-23T05:04:00.000Z'
const week = {
  ...busyWeek(),
  freshness: { ...busyWeek().freshness, dataAsOf: '2026-11-23T05:00:00.000Z' },
}

/** Those that there are pictures of. */
export const REFERENCES: readonly [MailPage, ...MailPage[]] = [
  await makePage('daily-en', busyDay(), { locale: DEFAULT_LOCALE }),
  await makePage('daily-de', busyDay(), { locale: 'de-DE', context: { title: 'Leads am Tag' } }),
  await makePage('weekly-en', week, { now: MONDAY, context: { title: 'Weekly leads' } }),
  await makePage('weekly-de', week, { now: MONDAY, locale: 'de-DE', context: { title: 'Leads der Woche' } }),
]

/** A full page on which everything that comes from others is called so. */
export function hostilePage(name: string): MailPage {
  return { name: 'hostile', rendered: renderReport(hostileDay(name)), images: new Map() }
}
