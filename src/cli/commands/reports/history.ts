/**
 * `leadsheet report list`, `history` and `approve`: lists the configured reports and the stored issues
 * (reports made for a period), and approves a held report.
 */

import type { Command } from 'commander'
import { findSchedule } from '../../../app/configured-schedules.ts'
import { openData, openDataToRead } from '../../../app/installation.ts'
import type { ReportConfig } from '../../../config/report-config.ts'
import type { LeadFilter } from '../../../domain/figures.ts'
import { formatDates } from '../../../domain/period.ts'
import { shellCommand } from '../../../errors.ts'
import { issueState, variantText } from '../../../jobs/archive/archive.ts'
import { approveRun } from '../../../jobs/schedule/schedule-state.ts'
import { type ListedIssue, listIssues } from '../../../store/reports/issue-list.ts'
import { addExamples, wholeNumber } from '../../command.ts'
import { formatInstant } from '../../terminal/table.ts'
import type { Terminal } from '../../terminal/terminal.ts'
import { periodJson } from './outbox.ts'

const LIMIT_DEFAULT = 50

export function defineList(parent: Command, terminal: Terminal): void {
  const command = parent
    .command('list')
    .description('list the configured reports with their schedules and number of recipients')
    .action(() => listReports(terminal))
  addExamples(command, ['report list', 'report list --json'])
}

async function listReports(terminal: Terminal): Promise<void> {
  const { reports } = await terminal.dataConfig()
  if (terminal.json) return terminal.printJson(reports.map(reportJson))
  if (reports.length === 0) return terminal.note('No reports are configured.')
  await terminal.printTable<ReportConfig>(
    [
      { title: 'REPORT', value: ({ name }) => name, isWhole: true },
      { title: 'WHEN', value: ({ schedule }) => schedule, isWhole: true },
      { title: 'ZONE', value: ({ timeZone }) => timeZone },
      { title: 'TEMPLATE', value: ({ template }) => template },
      { title: 'RECIPIENTS', value: ({ recipients }) => recipients.length },
    ],
    reports,
  )
}

function reportJson({ name, schedule, timeZone, template, recipients }: ReportConfig) {
  return { report: name, when: schedule, time_zone: timeZone, template, recipients: recipients.length }
}

export function defineHistory(parent: Command, terminal: Terminal): void {
  const command = parent
    .command('history')
    .description('list the kept issues with their state, newest first')
    .argument('[name]', 'only issues of this report')
    .option('--limit <number>', 'most issues to list', wholeNumber(1, 1_000_000), LIMIT_DEFAULT)
    .action((name: string | undefined, { limit }: { limit: number }) => listHistory(terminal, name, limit))
  addExamples(command, ['report history', 'report history daily --json'])
}

export function defineApprove(parent: Command, terminal: Terminal): void {
  const command = parent
    .command('approve')
    .description('approve a report that is held or waits for its data: the daemon sends it')
    .argument('<name>', 'name of the report')
    .action((name: string) => approveReport(terminal, name))
  addExamples(command, ['report approve daily'])
}

/** @throws LeadsheetError usage_invalid if no issue of the report is held or waits for its data */
async function approveReport(terminal: Terminal, name: string): Promise<void> {
  const config = await terminal.config()
  const schedule = findSchedule(config, name)
  await using store = await openData(config)
  const { due_at, message } = await approveRun(store, schedule.name, new Date())
  if (terminal.json) return terminal.printJson({ schedule: schedule.name, due_at, message })
  terminal.print(
    `${schedule.name} of ${formatInstant(due_at)} is approved: the daemon runs it within a minute`,
  )
}

async function listHistory(terminal: Terminal, report: string | undefined, limit: number): Promise<void> {
  await using store = await openDataToRead(await terminal.dataConfig())
  const issues = await listIssues(store.db, report ?? null, limit)
  if (terminal.json) return terminal.printJson(issues.map(issueJson))
  if (issues.length === 0) {
    const which = report === undefined ? 'No issue' : `No issue of ${JSON.stringify(report)}`
    return terminal.note(
      `${which} has been made yet: make one with ${shellCommand(`report preview ${report ?? 'daily'}`)}.`,
    )
  }
  await terminal.printTable<ListedIssue>(
    [
      { title: 'REPORT', value: (issue) => issue.report, isWhole: true },
      { title: 'PERIOD', value: ({ period }) => formatDates(period), isWhole: true },
      { title: 'LEADS', value: ({ variant }) => variantText(variant) ?? 'all', isOptional: true },
      { title: 'STATE', value: issueState },
      { title: 'MADE', value: ({ renderedAt }) => formatInstant(renderedAt), isWhole: true },
      { title: 'SUBJECT', value: ({ subject }) => subject },
    ],
    issues,
  )
}

export function issueJson(issue: ListedIssue) {
  return {
    report: issue.report,
    period: periodJson(issue.period),
    filter: filterJson(issue.variant),
    subject: issue.subject,
    made_at: issue.renderedAt,
    made_by: issue.programVersion,
    not_sent: issue.notSent,
    messages: issue.messages,
    copies: issue.copies,
  }
}

function filterJson(variant: string) {
  if (variant === '') return null
  const { pipelineIds, conditions }: LeadFilter = JSON.parse(variant)
  return { pipeline_ids: pipelineIds, conditions }
}
