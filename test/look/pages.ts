/** Mails for the tests of looks: every kind of report, made by the program's own functions. */
import type { ReportFigures } from '../../src/domain/figures.ts'
import type { Rendered } from '../../src/domain/message.ts'
import { drawCharts, findChart } from '../../src/report/charts/draw.ts'
import { chartLabels } from '../../src/report/charts/trend-layout.ts'
import { localeContextOf, type Making, REPORTS, renderReport } from '../support/report.ts'
import { busyDay, busyWeek, hostileDay, wideDay } from '../support/reports/figures.ts'

export interface MailPage {
  readonly rendered: Rendered
  /** PNG files by the content id that the page uses. */
  readonly images: ReadonlyMap<string, Uint8Array>
}

/** Returns a page that is made where it is needed. */
function pageCase(name: string, figures: ReportFigures, making: Making = {}) {
  return {
    name,
    async make(): Promise<MailPage> {
      const { files } = await drawCharts(figures, chartLabels(localeContextOf(making)))
      const chart = findChart(files, (file) => `cid:${file}`)
      return {
        rendered: renderReport(figures, { ...making, context: { ...making.context, chart } }),
        images: new Map(files.map((file) => [file.name, file.content])),
      }
    },
  }
}

/** All links that a report about leads can have. */
const LINKED: Making = {
  context: {
    leadUrl: 'https://crm.example.com/leads/{id}',
    attached: new Map([['stalled', 'daily-stalled-2026-11-20.xlsx']]),
    leftOut: [{ name: 'daily-changes-2026-11-20.csv', megabytes: 12.5 }],
    unsubscribe: 'mailto:reports@example.com',
  },
}

/** Every kind of report; the last one has full lists with the longest possible names. */
export const PAGES = [
  ...REPORTS.map(({ name, figures, making }) => pageCase(name, figures, making)),
  pageCase('German', busyWeek(), { locale: 'de-DE' }),
  pageCase('with links', busyDay(), LINKED),
  pageCase('overlong', hostileDay(`${'W'.repeat(300)} Donaudampfschifffahrtsgesellschaft`)),
]

const LANGUAGES = { English: 'en-GB', German: 'de-DE' }

/** Each kind of report in each language, and one with the widest possible numbers. */
export const WORDED = Object.entries(LANGUAGES).flatMap(([language, locale]) =>
  [...REPORTS, { name: 'wide', figures: wideDay(), making: {} }].map(({ name, figures, making }) =>
    pageCase(`${name}, ${language}`, figures, { ...making, locale }),
  ),
)

/** A full page in which every text and id from outside is replaced by this name. */
export function hostilePage(name: string): MailPage {
  return { rendered: renderReport(hostileDay(name), LINKED), images: new Map() }
}
