/** `leadsheet recipients`: who gets which report, what of it, which setting says so, and what they wish themselves. */
import type { Command } from 'commander'
import type { Config } from '../config/config.ts'
import { filterText } from '../config/lead-filter.ts'
import type { RecipientConfig, ReportConfig } from '../config/report-config.ts'
import { subscriptionText } from '../jobs/reports/preferences.ts'
import type { Store } from '../store/db/store.ts'
import { listRefusing, type RefusingRecipient } from '../store/outbox/delivery-list.ts'
import { listSubscriptions, type Subscription } from '../store/reports/preference.ts'
import { addExamples } from './command.ts'
import { openDataIfThere } from './installation.ts'
import { defineLinks } from './recipient-links.ts'
import { defineWishes } from './recipient-wishes.ts'
import { findReport } from './reports.ts'
import type { Terminal } from './terminal.ts'

interface Line {
  readonly address: string
  readonly report: string
  /** What the settings give them; null where they do not name them any more. */
  readonly recipient: RecipientConfig | null
  readonly from: string
  /** Null where nobody ever wished anything. */
  readonly subscription: Subscription | null
  /** Null where their mails are taken. */
  readonly refusing: RefusingRecipient | null
}

/** So many editions in a row. */
const REFUSED_IN_ROW = 3

export function defineRecipients(command: Command, terminal: Terminal): void {
  command
    .option('--report <name>', 'only those of this report')
    .action(({ report }: { report?: string }) => listRecipients(terminal, report))
  addExamples(command, ['recipients', 'recipients --report weekly', 'recipients --json'])
  defineWishes(command, terminal)
  defineLinks(command, terminal)
}

async function listRecipients(terminal: Terminal, name: string | undefined): Promise<void> {
  const config = await terminal.config()
  const reports = name === undefined ? config.reports : [findReport(config, name)]
  await using store = await openDataIfThere(config)
  const lines = await readLines(store, config, reports, name)
  if (terminal.json) return terminal.printJson({ data: lines.map(jsonOf) })
  if (lines.length === 0) {
    return terminal.note('Nobody gets a report: set recipients (LEADSHEET_RECIPIENTS) or recipients_file.')
  }
  await terminal.printTable<Line>(
    [
      { title: 'RECIPIENT', value: ({ address }) => address, isWhole: true },
      { title: 'NAME', value: ({ recipient }) => recipient?.name ?? null, isOptional: true },
      { title: 'REPORT', value: ({ report }) => report, isWhole: true },
      { title: 'STATE', value: stateOf },
      { title: 'LEADS', value: ({ recipient }) => recipient && (filterText(recipient.filter) ?? 'all') },
      { title: 'LOCALE', value: ({ recipient }) => recipient?.locale ?? null },
      { title: 'TIME ZONE', value: ({ recipient }) => recipient?.timeZone ?? null },
      {
        title: 'BLOCKS',
        value: ({ recipient }) => recipient && (recipient.blocks?.join(', ') ?? 'as its folder says'),
      },
      {
        title: 'ATTACHMENTS',
        value: ({ recipient }) => recipient?.attachments.join(', ') ?? null,
        isOptional: true,
      },
      { title: 'FROM', value: ({ from }) => from, isOptional: true },
    ],
    lines,
  )
}

/** Of the settings first, then who is only in the store. */
async function readLines(
  store: Store,
  config: Config,
  reports: readonly ReportConfig[],
  name: string | undefined,
): Promise<Line[]> {
  const keyOf = (address: string, report: string) => `${report} ${address.toLowerCase()}`
  const wishes = new Map(
    (await listSubscriptions(store.db, name)).map((one) => [keyOf(one.address, one.report), one]),
  )
  const refusing = new Map(
    (await listRefusing(store.db, REFUSED_IN_ROW)).map((one) => [keyOf(one.recipient, one.report), one]),
  )
  const listed = reports.flatMap((report) =>
    report.recipients.map((recipient) => {
      const key = keyOf(recipient.address, report.name)
      const about = { subscription: wishes.get(key) ?? null, refusing: refusing.get(key) ?? null }
      wishes.delete(key)
      return {
        ...{ address: recipient.address, report: report.name, recipient },
        ...{ from: sourceOf(config, report), ...about },
      }
    }),
  )
  const unlisted = [...wishes.values()].map((subscription) => {
    const { address, report } = subscription
    const from = 'no longer in the settings'
    return { address, report, recipient: null, from, subscription, refusing: null }
  })
  return [...listed, ...unlisted]
}

function sourceOf({ reports, sources }: Config, report: ReportConfig): string {
  return sources[`reports[${reports.indexOf(report)}].recipients`] ?? sources.recipients ?? 'default'
}

function stateOf({ subscription, refusing }: Line): string {
  const state = subscription === null ? 'active' : subscriptionText(subscription)
  return refusing === null ? state : `${state}, failing: ${refusing.editions} refused in a row`
}

function jsonOf({ recipient, subscription, refusing, ...line }: Line) {
  const { filter, timeZone, ...rest } = recipient ?? {}
  const { state = 'active', cadence = 'as_scheduled' } = subscription ?? {}
  return {
    ...{ ...rest, ...line, ...(timeZone === undefined ? {} : { time_zone: timeZone }) },
    ...(filter && { filter: { pipeline_ids: filter.pipelineIds, conditions: filter.conditions } }),
    in_settings: recipient !== null,
    ...{ state, cadence },
    changed_at: subscription?.changedAt ?? null,
    changed_by: subscription?.changedBy ?? null,
    reason: subscription?.reason ?? null,
    refused_in_a_row: refusing?.editions ?? 0,
  }
}
