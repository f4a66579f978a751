/** `leadsheet issues`: the issues of the reports that are kept, the newest first, and what became of each. */

import type { Command } from 'commander'
import { openDataIfThere } from '../../../app/installation.ts'
import type { LeadFilter } from '../../../domain/figures.ts'
import { tellDates } from '../../../domain/period.ts'
import { shellCommand } from '../../../errors.ts'
import { issueState, variantText } from '../../../jobs/archive/archive-index.ts'
import { type ListedIssue, listIssues } from '../../../store/reports/issue-list.ts'
import { addExamples, wholeNumber } from '../../command.ts'
import { formatInstant } from '../../terminal/table.ts'
import type { Terminal } from '../../terminal/terminal.ts'

interface Options {
  readonly report?: string
  readonly limit: number
}

const LIMIT_DEFAULT = 50

export function defineIssues(command: Command, terminal: Terminal): void {
  command
    .option('--report <name>', 'only those of this report')
    .option('--limit <number>', 'how many', wholeNumber(1, 1_000_000), LIMIT_DEFAULT)
    .action((options: Options) => runIssues(terminal, options))
  addExamples(command, ['issues', 'issues --report daily --json'])
}

async function runIssues(terminal: Terminal, { report, limit }: Options): Promise<void> {
  await using store = await openDataIfThere(await terminal.config())
  const issues = await listIssues(store.db, report ?? null, limit)
  if (terminal.json) return terminal.printJson(issues.map(issueJson))
  if (issues.length === 0) {
    const which = report === undefined ? 'No issue' : `No issue of ${JSON.stringify(report)}`
    return terminal.note(
      `${which} has been made yet: ${shellCommand(`report ${report ?? 'daily'}`)} makes one.`,
    )
  }
  await terminal.printTable<ListedIssue>(
    [
      { title: 'REPORT', value: (issue) => issue.report, isWhole: true },
      { title: 'PERIOD', value: ({ period }) => tellDates(period), isWhole: true },
      { title: 'LEADS', value: ({ variant }) => variantText(variant) ?? 'all', isOptional: true },
      { title: 'STATE', value: issueState },
      { title: 'MADE', value: ({ renderedAt }) => formatInstant(renderedAt), isWhole: true },
      { title: 'SUBJECT', value: ({ subject }) => subject },
    ],
    issues,
  )
}

export function issueJson({
  report,
  period,
  variant,
  subject,
  renderedAt,
  programVersion,
  notSent,
  messages,
}: ListedIssue) {
  const { from, to, timeZone } = period
  return {
    report,
    period: { from, to, time_zone: timeZone },
    filter: filterJson(variant),
    subject,
    made_at: renderedAt,
    made_by: programVersion,
    not_sent: notSent,
    messages: {
      ...{ total: messages.total, sent: messages.sent, failed: messages.failed },
      ...{ in_doubt: messages.inDoubt, withdrawn: messages.withdrawn },
    },
  }
}

function filterJson(variant: string) {
  if (variant === '') return null
  const { pipelineIds, conditions }: LeadFilter = JSON.parse(variant)
  return { pipeline_ids: pipelineIds, conditions }
}
