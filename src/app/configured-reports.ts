/** Builds reports from the settings and their folders, and opens what is needed to make and send them. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '../config/config.ts'
import { draftReport, type ReportConfig } from '../config/report-config.ts'
import type { PeriodKind } from '../domain/figures.ts'
import { LeadsheetError, shellCommand } from '../errors.ts'
import type { ReportDeps } from '../jobs/reports/enqueue-report.ts'
import { tryReport } from '../jobs/reports/preview.ts'
import { type Audience, checkReport, type Recipient, type Report } from '../jobs/reports/report-definition.ts'
import { readVersion } from '../packages.ts'
import { openTemplates, type Templates } from '../report/render/templates.ts'
import type { Store } from '../store/db/store.ts'
import { leadPageUrl } from '../web/dashboard/lead.ts'
import { preferenceLinks, senderOf } from './configured-mail.ts'
import { pathsIn, TEMPLATES } from './installation.ts'
import { configuredPublishing, snapshotPlaceOf } from './publishing.ts'

const MEGABYTE = 1_000_000
const STALLED_DAYS_DEFAULT = 7

/**
 * Finds a report in the settings. If the settings have no report of this name but a report folder has the
 * name, returns a draft without recipients.
 * @throws LeadsheetError report_unknown, with the names of the reports in the settings
 */
export function findReport(config: Config, name: string): ReportConfig {
  const found = config.reports.find((report) => report.name === name)
  if (found) return found
  const draft = hasFolder(config, name) ? draftReport(name, config) : undefined
  if (draft) return draft
  const known = config.reports.map((report) => report.name).join(', ')
  throw new LeadsheetError('report_unknown', `There is no report named ${JSON.stringify(name)}`, {
    hint: known === '' ? 'No reports are configured.' : `Reports in the settings: ${known}.`,
  })
}

function hasFolder({ templatesDir }: Config, name: string): boolean {
  return [templatesDir, TEMPLATES].some((folder) => existsSync(join(folder, name)))
}

/**
 * Merges the settings of a report with the definition in the report's folder. The settings have priority.
 * @throws LeadsheetError report_unknown if the folder is missing; config_invalid if the settings name an
 * attachment that the report cannot make
 */
export function reportOf(
  settings: ReportConfig,
  {
    leadUrl,
    holidays,
    weekStarts,
    goals,
    fiscalYearStarts,
    web: { publicUrl },
  }: Pick<Config, 'leadUrl' | 'holidays' | 'weekStarts' | 'goals' | 'fiscalYearStarts' | 'web'>,
  templates: Templates,
): { report: Report; recipients: readonly Recipient[] } {
  const definition = templates.definition(settings.template)
  const blocks = settings.blocks ?? definition.blocks
  const report: Report = {
    name: settings.name,
    template: settings.template,
    title: settings.title ?? definition.title,
    timeZone: settings.timeZone,
    kind: settings.period ?? definition.period,
    sendWhen: settings.sendWhen ?? definition.sendWhen,
    gate: {
      waitMinutes: settings.waitMinutes,
      onStaleData: settings.onStaleData,
    },
    queries: definition.queries,
    blocks,
    leadUrl: leadUrl ?? (publicUrl === null ? null : leadPageUrl(publicUrl)),
    holidays,
    weekStarts,
    goals,
    fiscalYearStarts,
    filter: settings.filter,
    locale: settings.locale,
    attachments: settings.attachments,
    columns: settings.columns,
    stalledDays: settings.stalledDays,
    topScore: settings.topScore,
  }
  const recipients = settings.recipients.map((recipient) => ({
    ...recipient,
    blocks: recipient.blocks ?? blocks,
  }))
  checkReport(report, recipients)
  return { report, recipients }
}

/**
 * Returns the recipient with the given address. If `address` is null, returns the report, which holds the
 * default values of recipients.
 * @throws LeadsheetError usage_invalid if the report has no recipient with this address
 */
export function findAudience(
  report: Report,
  recipients: readonly Recipient[],
  address: string | null,
): Audience {
  const found =
    address === null ? report : recipients.find((one) => one.address.toLowerCase() === address.toLowerCase())
  if (found) return found
  throw new LeadsheetError('usage_invalid', `${address} is no recipient of the report ${report.name}`, {
    hint: `${shellCommand('recipients')} lists the recipients of each report.`,
  })
}

/** @throws LeadsheetError report_template */
export async function openReportDeps(
  config: Config,
  store: Store,
  templates: Templates,
): Promise<ReportDeps> {
  return {
    store,
    templates,
    archive: pathsIn(config.dataDir).archive,
    sender: senderOf(config.mail, await preferenceLinks(config, store)),
    // Without a token nobody can sign in to the dashboard from outside, so reports have no link to it.
    dashboardUrl: config.web.token === null ? null : config.web.publicUrl,
    maxBytes: config.mail.maxMb * MEGABYTE,
    program: readVersion(),
    now: () => new Date(),
    publishing: configuredPublishing(config, store),
  }
}

/** The number of days comes from the first report in the settings. */
export function stalledDaysOf(config: Config): number {
  return config.reports[0]?.stalledDays ?? STALLED_DAYS_DEFAULT
}

/**
 * Opens the templates. A template in the installation's own folder replaces the program's template of the
 * same name.
 * @param only the names of the templates to open (by default all). Mistakes in other templates are not found.
 * @throws LeadsheetError report_template, config_invalid
 */
export async function openTemplatesOf(config: Config, only?: readonly string[]): Promise<Templates> {
  const templates = await openTemplates(TEMPLATES, { own: ownFolder(config), ...(only && { only }) })
  refuseWithoutFolder(config, templates.names(), only)
  return templates
}

/** Throws if a report in the settings has no folder of templates. The error names the line of the settings. */
function refuseWithoutFolder(
  { reports, sources, templatesDir }: Config,
  names: readonly string[],
  only: readonly string[] | undefined,
): void {
  for (const [index, { name, template }] of reports.entries()) {
    if (only?.includes(template) === false || names.includes(template)) continue
    const setting = [`reports[${index}].template`, `reports[${index}].name`].find((each) => each in sources)
    const place = setting === undefined ? 'reports' : `${sources[setting]}  ${setting}`
    throw new LeadsheetError(
      'config_invalid',
      `${place}: found "${template}", expected a folder of ${templatesDir}, or one of ${names.join(', ')}`,
      { hint: `${shellCommand(`report new ${name}`)} makes one; or name the one that it takes as template.` },
    )
  }
}

/** Null if the settings name no folder and no `templates` folder exists beside the settings file. */
export function ownFolder({ templatesDir, sources }: Config): string | null {
  if (templatesDir === TEMPLATES) return null
  return sources.templates_dir !== undefined || existsSync(templatesDir) ? templatesDir : null
}

/**
 * Checks that all configured reports can be made: compiles their templates, renders them with made-up
 * figures, and has SQLite parse their SQL. Changes no data.
 * @returns the kind of period of each report, by its name
 * @throws LeadsheetError report_template, report_unknown, query_failed, config_invalid for the first mistake
 */
export async function tryReports(
  config: Config,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, PeriodKind>> {
  const templates = await openTemplatesOf(
    config,
    config.reports.map(({ template }) => template),
  )
  const reports = config.reports.map((settings) => reportOf(settings, config, templates))
  const deps = { templates, publishing: snapshotPlaceOf(config), now: () => new Date() }
  for (const { report, recipients } of reports) await tryReport(deps, report, recipients, signal)
  return new Map(reports.map(({ report }) => [report.name, report.kind]))
}
