/** The configured reports, as the jobs take them. */
import type { Config } from '../config/config.ts'
import type { ReportConfig } from '../config/report-config.ts'
import { LeadsheetError } from '../errors.ts'
import type { Report } from '../jobs/edition.ts'

/** @throws LeadsheetError report_unknown, naming those that there are */
export function findReport(config: Config, name: string): ReportConfig {
  const found = config.reports.find((report) => report.name === name)
  if (found) return found
  const known = config.reports.map((report) => report.name).join(', ')
  throw new LeadsheetError('report_unknown', `There is no report named ${JSON.stringify(name)}`, {
    hint: known === '' ? 'The settings list no reports.' : `Reports in the settings: ${known}.`,
  })
}

export function reportOf(settings: ReportConfig): Report {
  return {
    name: settings.name,
    template: settings.template,
    title: settings.title ?? titleOf(settings.name),
    timeZone: settings.timeZone,
    pipelines: settings.filter.pipelineIds ?? [],
    stalledDays: settings.stalledDays,
    topScore: settings.topScore,
  }
}

export function addressesOf({ recipients }: ReportConfig): string[] {
  return recipients.map(({ address }) => address)
}

/** `eu-daily` -> `Eu daily leads`; the settings can say better. */
function titleOf(name: string): string {
  const words = name.replaceAll('-', ' ')
  return `${words.charAt(0).toUpperCase()}${words.slice(1)} leads`
}
