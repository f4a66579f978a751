/** `leadsheet recipients pause` and the like: what recipients asked for by mail, done by an operator. */
import type { Command } from 'commander'
import type { Config } from '../config/config.ts'
import { LeadsheetError, shellCommand } from '../errors.ts'
import { type ChangedSubscription, changeSubscription } from '../jobs/recipients/change-preference.ts'
import { subscriptionText } from '../jobs/reports/preferences.ts'
import type { Wish } from '../report/preferences/page.ts'
import { areMoreThanWeekly, listDueTimes } from '../report/preferences/page.ts'
import type { Store } from '../store/db/store.ts'
import { listSubscriptions } from '../store/reports/preference.ts'
import { addExamples } from './command.ts'
import { openData } from './installation.ts'
import { findReport } from './reports.ts'
import { schedulesOf } from './schedules.ts'
import type { Terminal } from './terminal.ts'

interface Options {
  readonly report?: string
  readonly reason?: string
}

const WISHES: readonly { readonly name: string; readonly wish: Wish; readonly summary: string }[] = [
  { name: 'pause', wish: 'pause', summary: 'send a recipient nothing until they are resumed' },
  { name: 'resume', wish: 'start', summary: 'send again to who was paused or unsubscribed' },
  { name: 'unsubscribe', wish: 'stop', summary: 'send a recipient no more, mails that wait included' },
  { name: 'weekly', wish: 'weekly', summary: 'send a recipient one report a week, of the week before' },
  { name: 'as-scheduled', wish: 'as_scheduled', summary: 'send a recipient every report again' },
]

export function defineWishes(parent: Command, terminal: Terminal): void {
  for (const { name, wish, summary } of WISHES) {
    const command = parent
      .command(name)
      .description(summary)
      .argument('<address>', 'of the recipient')
      .option('--report <name>', 'only this report (default: all that they get)')
      .option('--reason <text>', `why, for ${shellCommand('recipients')}`)
      // The list of recipients has such an option too, and takes it for its own.
      .action((address: string, _: Options, called: Command) =>
        change(terminal, address, wish, called.optsWithGlobals<Options>()),
      )
    addExamples(command, [
      `recipients ${name} dana@example.com`,
      `recipients ${name} dana@example.com --report daily`,
    ])
  }
}

async function change(terminal: Terminal, address: string, wish: Wish, options: Options): Promise<void> {
  const config = await terminal.config()
  await using store = await openData(config)
  const reason = options.reason ?? null
  const changed: ChangedSubscription[] = []
  const theirs = await reportsOf(store, config, address, options.report)
  const reports = wish === 'weekly' ? onlyFrequent(config, theirs) : theirs
  for (const report of reports) {
    const by = { by: 'operator', reason } as const
    changed.push(await changeSubscription(store, { address, report }, wish, by, new Date()))
  }
  if (terminal.json) return terminal.printJson({ data: changed.map(changedJson) })
  await terminal.printTable<ChangedSubscription>(
    [
      { title: 'RECIPIENT', value: ({ subscription }) => subscription.address, isWhole: true },
      { title: 'REPORT', value: ({ subscription }) => subscription.report, isWhole: true },
      { title: 'STATE', value: ({ subscription }) => subscriptionText(subscription) },
      { title: 'MAILS WITHDRAWN', value: ({ withdrawn }) => withdrawn },
    ],
    changed,
  )
}

/**
 * What somebody gets, or once got and has wished something of.
 * @throws LeadsheetError usage_invalid where that is nothing
 */
export async function reportsOf(
  { db }: Pick<Store, 'db'>,
  config: Config,
  address: string,
  name: string | undefined,
): Promise<string[]> {
  const isTheirs = (one: { readonly address: string }) => one.address.toLowerCase() === address.toLowerCase()
  const asked = name === undefined ? config.reports : [findReport(config, name)]
  const listed = asked.filter(({ recipients }) => recipients.some(isTheirs)).map((report) => report.name)
  const wished = (await listSubscriptions(db, name)).filter(isTheirs).map(({ report }) => report)
  const reports = [...new Set([...listed, ...wished])]
  if (reports.length > 0) return reports
  const of = name === undefined ? 'any report' : `the report ${name}`
  throw new LeadsheetError('usage_invalid', `${address} is no recipient of ${of}`, {
    hint: `${shellCommand('recipients')} lists who gets what.`,
  })
}

/** @throws LeadsheetError usage_invalid where none of them comes more than once a week */
function onlyFrequent(config: Config, names: readonly string[]): readonly string[] {
  const frequent = schedulesOf(config).flatMap(({ report, timing }) =>
    report !== null && areMoreThanWeekly(listDueTimes(timing, new Date()), timing.timeZone)
      ? report.name
      : [],
  )
  const found = names.filter((name) => frequent.includes(name))
  if (found.length > 0) return found
  throw new LeadsheetError(
    'usage_invalid',
    `${names.join(' and ')} comes no more than once a week as it is`,
    {
      hint: `${shellCommand('schedule')} lists what is sent when.`,
    },
  )
}

function changedJson({ subscription, withdrawn }: ChangedSubscription) {
  const { address, report, state, cadence, changedAt, changedBy, reason } = subscription
  return {
    ...{ address, report, state, cadence, changed_at: changedAt, changed_by: changedBy, reason },
    mails_withdrawn: withdrawn,
  }
}
