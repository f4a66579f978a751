/**
 * An edition: the figures of a period, read first, then composed, then rendered, then kept, in the store and
 * as files in the archive. Made once a report and period; asked for again it is the same.
 */
import { mkdir, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { BLOCKS, DEFAULT_LOCALE } from '../choices.ts'
import { errorText, LeadsheetError } from '../errors.ts'
import type { Period } from '../model.ts'
import { dayBefore, daysUpTo, periodsUpTo, priorOf } from '../report/period.ts'
import { composeReport } from '../report/report.ts'
import type { Templates } from '../report/templates.ts'
import { createVoice } from '../report/voice.ts'
import { type Edition, findEdition, saveEdition } from '../store/edition.ts'
import { readReportFigures } from '../store/figures/report.ts'
import type { Store } from '../store/open.ts'

/** Of each list; what a mail does not show may be attached. */
const ROWS_MAX = 1000
/** 90 with a mean of seven. */
const TREND_DAYS = 96

/** A report as configured. */
export interface Report {
  readonly name: string
  readonly template: string
  readonly title: string
  readonly timeZone: string
  /** Only these pipelines; all of them if empty. */
  readonly pipelines: readonly string[]
  readonly stalledDays: number
  readonly topScore: number
}

export interface EditionDeps {
  readonly store: Store
  readonly templates: Templates
  readonly now: () => Date
}

/**
 * The edition of the whole day before `at`, in the report's zone. One that was mailed stands as it was
 * mailed; one that was only looked at is made anew from the data of now.
 * @throws LeadsheetError report_no_data, report_template
 */
export async function makeEdition(deps: EditionDeps, report: Report, at: Date): Promise<Edition> {
  const period = dayBefore(at, report.timeZone)
  const mailed = await findEdition(deps.store.db, { report: report.name, period, variant: '' })
  if (mailed?.isMailed) return mailed
  const figures = await readReportFigures(deps.store.db, {
    kind: 'day',
    period,
    prior: priorOf('day', period),
    filter: { pipelineIds: report.pipelines.length > 0 ? report.pipelines : null, conditions: [] },
    topScore: report.topScore,
    stalledDays: report.stalledDays,
    asKnownAt: null,
    rowsMax: ROWS_MAX,
    since: null,
    sparkPeriods: periodsUpTo('day', period),
    trendDays: daysUpTo(period.to, TREND_DAYS, period.timeZone),
  })
  if (figures.freshness.dataAsOf === null) {
    throw new LeadsheetError(
      'report_no_data',
      `The report ${report.name} has no data: no sync has read all leads yet`,
      {
        hint: 'Run `leadsheet sync` first.',
      },
    )
  }
  const renderedAt = deps.now().toISOString()
  const edition = {
    report: report.name,
    period,
    variant: '',
    renderedAt,
    figures,
    programVersion: null,
    notSent: null,
  }
  const rendered = renderFor(deps.templates, report, edition, null)
  return deps.store.write((trx) => saveEdition(trx, { ...edition, ...rendered }))
}

/** The edition as one recipient gets it, or for everybody with null. */
export function renderFor(
  templates: Templates,
  report: Report,
  edition: Pick<Edition, 'figures' | 'renderedAt'>,
  recipient: string | null,
) {
  const { figures, renderedAt } = edition
  const view = composeReport(figures, createVoice(DEFAULT_LOCALE, figures.period.timeZone, renderedAt), {
    title: report.title,
    recipient,
    blocks: BLOCKS,
    leadUrl: null,
    charts: new Map(),
    attached: new Map(),
    leftOut: [],
    unsubscribe: null,
  })
  return templates.render(report.template, view)
}

/**
 * Writes the page and the text of an edition into the archive folder; both are whole or not there.
 * @returns the path of the page
 * @throws LeadsheetError data_unwritable
 */
export async function archiveEdition(folder: string, edition: Edition): Promise<string> {
  const directory = join(folder, edition.report)
  const base = join(directory, localDateOf(edition.period))
  try {
    await mkdir(directory, { recursive: true })
    for (const [path, content] of [
      [`${base}.txt`, edition.text],
      [`${base}.html`, edition.html],
    ] as const) {
      // Another process may be writing the same page.
      const unfinished = `${path}.${process.pid}.part`
      await writeFile(unfinished, content)
      await rename(unfinished, path)
    }
  } catch (cause) {
    throw new LeadsheetError('data_unwritable', `${base}.html cannot be written: ${errorText(cause)}`, {
      hint: 'Check that data_dir (LEADSHEET_DATA_DIR) is writable by this user and has space.',
      cause,
    })
  }
  return `${base}.html`
}

/** The day that a period covers, on its own calendar: `2026-11-20`. */
export function localDateOf(period: Period): string {
  const parts = new Intl.DateTimeFormat('en', {
    timeZone: period.timeZone,
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
  })
  const of = new Map(parts.formatToParts(new Date(period.from)).map((part) => [part.type, part.value]))
  return `${of.get('year')}-${of.get('month')}-${of.get('day')}`
}
