/** Whether the reports of the settings could be sent, told before anything is. */

import { existsSync } from 'node:fs'
import type { Config } from '../config/config.ts'
import { tryReport } from '../jobs/reports/preview.ts'
import { openDataOrEmpty, storePlaceOf } from './installation.ts'
import { reportOf } from './reports.ts'
import { openTemplatesOf } from './templates.ts'

/**
 * Compiles the templates of every report, fills them in with made-up figures, and has the database read their SQL,
 * where it changes nothing.
 * @throws LeadsheetError report_template, report_unknown, query_failed, config_invalid: the first mistake
 */
export async function tryReports(config: Config, signal: AbortSignal): Promise<void> {
  const templates = await openTemplatesOf(
    config,
    config.reports.map(({ template }) => template),
  )
  const reports = config.reports.map((settings) => reportOf(settings, config, templates))
  const own = storePlaceOf(config)
  const hasQueries = reports.some(({ report }) => report.queries.length > 0)
  // A file that is there is not opened as a store, which might bring it to another version.
  const isReady = !hasQueries || (own.kind === 'sqlite' && existsSync(own.file))
  await using store = isReady ? null : await openDataOrEmpty(config)
  const deps = { templates, place: store?.place ?? own, now: () => new Date() }
  for (const { report, recipients } of reports) await tryReport(deps, report, recipients, signal)
}
