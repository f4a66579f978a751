/** Whether the reports of the settings could be sent, told before anything is. */

import { existsSync } from 'node:fs'
import type { Config } from '../config/config.ts'
import { tryReport } from '../jobs/preview.ts'
import { fileOf } from '../store/place.ts'
import { openDataOrEmpty, pathsIn } from './installation.ts'
import { reportOf } from './reports.ts'
import { openTemplatesOf } from './templates.ts'

/**
 * Compiles the templates of every report, fills them in with made-up figures, and has SQLite read their SQL; the
 * database stays as it is.
 * @throws LeadsheetError report_template, report_unknown, query_failed, config_invalid: the first mistake
 */
export async function tryReports(config: Config, signal: AbortSignal): Promise<void> {
  const templates = await openTemplatesOf(
    config,
    config.reports.map(({ template }) => template),
  )
  const { database } = pathsIn(config.dataDir)
  await using empty = existsSync(database) ? null : await openDataOrEmpty(config)
  const deps = { templates, file: empty === null ? database : fileOf(empty), now: () => new Date() }
  for (const settings of config.reports) {
    const { report, recipients } = reportOf(settings, config, templates)
    await tryReport(deps, report, recipients, signal)
  }
}
