/** The configured reports with what their folders say, and all that is needed to make them. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '../config/config.ts'
import { draftReport, type ReportConfig } from '../config/report-config.ts'
import { LeadsheetError, shellCommand } from '../errors.ts'
import type { MailingDeps } from '../jobs/reports/enqueue-report.ts'
import { checkReport, type Reader, type Recipient, type Report } from '../jobs/reports/report-definition.ts'
import { openArchivePages } from '../report/archive/pages.ts'
import type { Templates } from '../report/render/templates.ts'
import type { Store } from '../store/db/store.ts'
import { pathsIn, TEMPLATES } from './installation.ts'
import { senderOf } from './mail.ts'
import { subscriptionLinks } from './subscription-links.ts'
import { readVersion } from './version.ts'

const MEGABYTE = 1_000_000

/**
 * One of the settings, or one that has only a folder yet, which nobody gets.
 * @throws LeadsheetError report_unknown, naming those that there are
 */
export function findReport(config: Config, name: string): ReportConfig {
  const found = config.reports.find((report) => report.name === name)
  if (found) return found
  const draft = hasFolder(config, name) ? draftReport(name, config) : undefined
  if (draft) return draft
  const known = config.reports.map((report) => report.name).join(', ')
  throw new LeadsheetError('report_unknown', `There is no report named ${JSON.stringify(name)}`, {
    hint: known === '' ? 'The settings list no reports.' : `Reports in the settings: ${known}.`,
  })
}

function hasFolder({ templatesDir }: Config, name: string): boolean {
  return [templatesDir, TEMPLATES].some((folder) => existsSync(join(folder, name)))
}

/** @throws LeadsheetError report_unknown without its folder; config_invalid for what that folder does not have */
export function reportOf(
  settings: ReportConfig,
  { leadUrl, holidays }: Pick<Config, 'leadUrl' | 'holidays'>,
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
    send: settings.send ?? definition.send,
    gate: {
      waitMinutes: settings.waitMinutes,
      ifStale: settings.ifStale,
      ifUnusual: settings.ifUnusual,
    },
    queries: definition.queries,
    blocks,
    ...{ leadUrl, holidays, filter: settings.filter, locale: settings.locale },
    attachments: settings.attachments,
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
 * Whose eyes a report is looked at with; its own where no address is given.
 * @throws LeadsheetError usage_invalid
 */
export function findReader(report: Report, recipients: readonly Recipient[], address: string | null): Reader {
  const found =
    address === null ? report : recipients.find((one) => one.address.toLowerCase() === address.toLowerCase())
  if (found) return found
  throw new LeadsheetError('usage_invalid', `${address} is no recipient of the report ${report.name}`, {
    hint: `${shellCommand('recipients')} lists who gets what.`,
  })
}

/** @throws LeadsheetError report_template */
export async function openMailing(config: Config, store: Store, templates: Templates): Promise<MailingDeps> {
  return {
    store,
    templates,
    archive: { folder: pathsIn(config.dataDir).archive, pages: await openArchivePages(TEMPLATES) },
    sender: senderOf(config.mail, await subscriptionLinks(config, store)),
    // Without a token nobody gets in from outside.
    windowUrl: config.web.token === null ? null : config.web.publicUrl,
    maxBytes: config.mail.maxMb * MEGABYTE,
    program: readVersion(),
    now: () => new Date(),
  }
}
