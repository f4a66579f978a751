/** `leadsheet recipients`: who gets which report, what of it, and which setting says so. */
import type { Command } from 'commander'
import type { Config } from '../config/config.ts'
import { filterText } from '../config/lead-filter.ts'
import type { RecipientConfig, ReportConfig } from '../config/report-config.ts'
import { addExamples } from './command.ts'
import { findReport } from './reports.ts'
import type { Terminal } from './terminal.ts'

interface Line extends RecipientConfig {
  readonly report: string
  readonly from: string
}

export function defineRecipients(command: Command, terminal: Terminal): void {
  command
    .option('--report <name>', 'only those of this report')
    .action(({ report }: { report?: string }) => listRecipients(terminal, report))
  addExamples(command, ['recipients', 'recipients --report weekly', 'recipients --json'])
}

async function listRecipients(terminal: Terminal, report: string | undefined): Promise<void> {
  const config = await terminal.config()
  const reports = report === undefined ? config.reports : [findReport(config, report)]
  const lines = reports.flatMap((each) => linesOf(config, each))
  if (terminal.json) return terminal.printJson({ data: lines.map(jsonOf) })
  if (lines.length === 0) {
    return terminal.note('Nobody gets a report: set recipients (LEADSHEET_RECIPIENTS) or recipients_file.')
  }
  await terminal.printTable<Line>(
    [
      { title: 'RECIPIENT', value: ({ address }) => address, isWhole: true },
      { title: 'NAME', value: ({ name }) => name, isOptional: true },
      { title: 'REPORT', value: (line) => line.report, isWhole: true },
      { title: 'LEADS', value: ({ filter }) => filterText(filter) ?? 'all' },
      { title: 'LOCALE', value: ({ locale }) => locale },
      { title: 'TIME ZONE', value: ({ timeZone }) => timeZone },
      { title: 'BLOCKS', value: ({ blocks }) => blocks?.join(', ') ?? 'as its folder says' },
      { title: 'ATTACHMENTS', value: ({ attachments }) => attachments.join(', '), isOptional: true },
      { title: 'FROM', value: ({ from }) => from, isOptional: true },
    ],
    lines,
  )
}

function linesOf({ reports, sources }: Config, report: ReportConfig): Line[] {
  const own = sources[`reports[${reports.indexOf(report)}].recipients`]
  const from = own ?? sources.recipients ?? 'default'
  return report.recipients.map((recipient) => ({ ...recipient, report: report.name, from }))
}

function jsonOf(line: Line) {
  const { filter, timeZone, ...rest } = line
  const { pipelineIds, conditions } = filter
  return { ...rest, time_zone: timeZone, filter: { pipeline_ids: pipelineIds, conditions } }
}
