/**
 * `leadsheet recipients`: lists which recipient gets which report, the setting that says so, and the
 * recipient's preference. The subcommands change preferences, and print or revoke links.
 */
import { Argument, type Command } from 'commander'
import { preferenceLinks } from '../../../app/configured-mail.ts'
import { findReport } from '../../../app/configured-reports.ts'
import { schedulesOf } from '../../../app/configured-schedules.ts'
import { openData, openDataToRead } from '../../../app/installation.ts'
import { REFUSED_IN_ROW } from '../../../checks/mail.ts'
import type { Config } from '../../../config/config.ts'
import { filterText, type RecipientConfig, type ReportConfig } from '../../../config/report-config.ts'
import { LeadsheetError, shellCommand } from '../../../errors.ts'
import {
  type ChangedPreference,
  changePreference,
  preferenceText,
} from '../../../jobs/reports/preferences.ts'
import { areMoreThanWeekly, listDueTimes, type PreferenceChoice } from '../../../report/preferences/page.ts'
import type { Store } from '../../../store/db/store.ts'
import { listRefusing, type RefusingRecipient } from '../../../store/outbox/delivery-problems.ts'
import { listPreferences, type Preference, replaceLinkKey } from '../../../store/reports/preference.ts'
import { claimLease, listHeldLeases } from '../../../store/schedule/lease.ts'
import { addExamples } from '../../command.ts'
import type { Terminal } from '../../terminal/terminal.ts'

interface Line {
  readonly address: string
  readonly report: string
  /** The recipient's settings; null if the settings no longer list the recipient. */
  readonly recipient: RecipientConfig | null
  readonly from: string
  /** The recipient's preference; null if none was ever set. */
  readonly preference: Preference | null
  /** The refusals by the recipient's mail server; null if it did not refuse several issues in a row. */
  readonly refusing: RefusingRecipient | null
}

export function defineRecipients(command: Command, terminal: Terminal): void {
  const list = command
    .command('list', { isDefault: true })
    .description('list recipients with their reports, states and preferences (same as `recipients`)')
    .option('--report <name>', 'only recipients of this report')
    .action(({ report }: { report?: string }) => listRecipients(terminal, report))
  addExamples(list, ['recipients', 'recipients list --report weekly', 'recipients list --json'])
  definePreferences(command, terminal)
  defineLinks(command, terminal)
}

async function listRecipients(terminal: Terminal, name: string | undefined): Promise<void> {
  const config = await terminal.dataConfig()
  const reports = name === undefined ? config.reports : [findReport(config, name)]
  await using store = await openDataToRead(config)
  const lines = await readLines(store, config, reports, name)
  if (terminal.json) return terminal.printJson(lines.map(jsonOf))
  if (lines.length === 0) {
    return terminal.note(
      'No report has recipients: set recipients (LEADSHEET_RECIPIENTS) or recipients_file.',
    )
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
        value: ({ recipient }) => recipient && (recipient.blocks?.join(', ') ?? 'as in its folder'),
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

/** Lists the recipients in the settings, then the recipients that have only a stored preference. */
async function readLines(
  store: Store,
  config: Config,
  reports: readonly ReportConfig[],
  name: string | undefined,
): Promise<Line[]> {
  const keyOf = (address: string, report: string) => `${report} ${address.toLowerCase()}`
  const choices = new Map(
    (await listPreferences(store.db, name)).map((one) => [keyOf(one.address, one.report), one]),
  )
  const refusing = new Map(
    (await listRefusing(store.db, REFUSED_IN_ROW)).map((one) => [keyOf(one.recipient, one.report), one]),
  )
  const listed = reports.flatMap((report) =>
    report.recipients.map((recipient) => {
      const key = keyOf(recipient.address, report.name)
      const about = { preference: choices.get(key) ?? null, refusing: refusing.get(key) ?? null }
      choices.delete(key)
      return {
        address: recipient.address,
        report: report.name,
        recipient,
        from: sourceOf(config, report),
        ...about,
      }
    }),
  )
  const unlisted = [...choices.values()].map((preference) => {
    const { address, report } = preference
    const from = 'no longer in the settings'
    return { address, report, recipient: null, from, preference, refusing: null }
  })
  return [...listed, ...unlisted]
}

function sourceOf({ reports, sources }: Config, report: ReportConfig): string {
  return sources[`reports[${reports.indexOf(report)}].recipients`] ?? sources.recipients ?? 'default'
}

function stateOf({ preference, refusing }: Line): string {
  const state = preference === null ? 'active' : preferenceText(preference)
  return refusing === null ? state : `${state}, failing: ${refusing.issues} refused in a row`
}

function jsonOf({ recipient, preference, refusing, ...line }: Line) {
  const { filter, timeZone, ...rest } = recipient ?? {}
  const { state = 'active', cadence = 'as_scheduled' } = preference ?? {}
  return {
    ...rest,
    ...line,
    ...(timeZone === undefined ? {} : { time_zone: timeZone }),
    ...(filter && { filter: { pipeline_ids: filter.pipelineIds, conditions: filter.conditions } }),
    in_settings: recipient !== null,
    state,
    cadence,
    changed_at: preference?.changedAt ?? null,
    changed_by: preference?.changedBy ?? null,
    reason: preference?.reason ?? null,
    refused_in_a_row: refusing?.issues ?? 0,
  }
}

/** Options of the commands that set a preference for a recipient. */
interface Options {
  /** Only `resume` has this option. */
  readonly all?: boolean
  readonly report?: string
  readonly reason?: string
}

const PREFERENCES: readonly {
  readonly name: string
  readonly choice: PreferenceChoice
  readonly summary: string
}[] = [
  { name: 'pause', choice: 'pause', summary: 'pause a recipient: send nothing until `recipients resume`' },
  {
    name: 'resume',
    choice: 'start',
    summary: 'resume sending to a recipient who was paused or unsubscribed',
  },
  {
    name: 'unsubscribe',
    choice: 'stop',
    summary: 'unsubscribe a recipient and withdraw their waiting mails',
  },
]

const FREQUENCIES: Readonly<Record<string, PreferenceChoice>> = { weekly: 'weekly', default: 'as_scheduled' }

function definePreferences(parent: Command, terminal: Terminal): void {
  for (const { name, choice, summary } of PREFERENCES) {
    const isResume = name === 'resume'
    const command = parent
      .command(name)
      .description(summary)
      .argument(isResume ? '[address]' : '<address>', 'address of the recipient')
    if (isResume) command.option('--all', 'all recipients whom leadsheet paused')
    addOptions(command).action((address: string | undefined, options: Options) =>
      change(terminal, address, choice, options),
    )
    addExamples(command, [
      `recipients ${name} dana@example.com`,
      `recipients ${name} dana@example.com --report daily`,
      ...(isResume ? ['recipients resume --all'] : []),
    ])
  }
  const frequency = parent
    .command('frequency')
    .description('send a recipient one report a week, about the week before; or go back to the schedule')
    .addArgument(
      new Argument('<frequency>', 'weekly, or default: the schedule of the settings').choices(
        Object.keys(FREQUENCIES),
      ),
    )
    .argument('<address>', 'address of the recipient')
  addOptions(frequency).action((name: string, address: string, options: Options) =>
    change(terminal, address, FREQUENCIES[name] ?? 'as_scheduled', options),
  )
  addExamples(frequency, [
    'recipients frequency weekly dana@example.com --report daily',
    'recipients frequency default dana@example.com',
  ])
}

function addOptions(command: Command): Command {
  return command
    .option('--report <name>', 'only this report (default: all reports that the recipient gets)')
    .option('--reason <text>', `reason to show in ${shellCommand('recipients')}`)
}

async function change(
  terminal: Terminal,
  address: string | undefined,
  choice: PreferenceChoice,
  options: Options,
): Promise<void> {
  const config = await terminal.config()
  await using store = await openData(config)
  const reason = options.reason ?? null
  const changed: ChangedPreference[] = []
  for (const key of await keysToChange(store, config, address, choice, options)) {
    const by = { by: 'operator', reason } as const
    changed.push(await changePreference(store, key, choice, by, new Date()))
  }
  if (changed.length === 0) terminal.note('leadsheet has paused nobody.')
  if (terminal.json) return terminal.printJson(changed.map(changedJson))
  await terminal.printTable<ChangedPreference>(
    [
      { title: 'RECIPIENT', value: ({ preference }) => preference.address, isWhole: true },
      { title: 'REPORT', value: ({ preference }) => preference.report, isWhole: true },
      { title: 'STATE', value: ({ preference }) => preferenceText(preference) },
      { title: 'MAILS WITHDRAWN', value: ({ withdrawn }) => withdrawn },
    ],
    changed,
  )
}

/** @throws LeadsheetError usage_invalid if neither or both of an address and `--all` are given */
async function keysToChange(
  store: Store,
  config: Config,
  address: string | undefined,
  choice: PreferenceChoice,
  { all = false, report: name }: Options,
): Promise<{ readonly address: string; readonly report: string }[]> {
  if (all === (address !== undefined)) {
    throw new LeadsheetError('usage_invalid', 'recipients resume: expected an address or --all', {
      hint: `Write ${shellCommand('recipients resume dana@example.com')}, or ${shellCommand('recipients resume --all')} for all whom leadsheet paused.`,
    })
  }
  if (address === undefined) {
    return (await listPreferences(store.db, name)).filter(
      ({ state, changedBy }) => state === 'paused' && changedBy === 'leadsheet',
    )
  }
  const theirs = await reportsOf(store, config, address, name)
  const reports = choice === 'weekly' ? onlyFrequent(config, theirs) : theirs
  return reports.map((report) => ({ address, report }))
}

/**
 * Lists the reports that an address gets, or has set a preference for.
 * @throws LeadsheetError usage_invalid if there is no such report
 */
async function reportsOf(
  { db }: Pick<Store, 'db'>,
  config: Config,
  address: string,
  name: string | undefined,
): Promise<string[]> {
  const isTheirs = (one: { readonly address: string }) => one.address.toLowerCase() === address.toLowerCase()
  const asked = name === undefined ? config.reports : [findReport(config, name)]
  const listed = asked.filter(({ recipients }) => recipients.some(isTheirs)).map((report) => report.name)
  const chosen = (await listPreferences(db, name)).filter(isTheirs).map(({ report }) => report)
  const reports = [...new Set([...listed, ...chosen])]
  if (reports.length > 0) return reports
  const of = name === undefined ? 'any report' : `the report ${name}`
  throw new LeadsheetError('usage_invalid', `${address} is not a recipient of ${of}`, {
    hint: `${shellCommand('recipients')} lists the recipients of each report.`,
  })
}

/**
 * Keeps only the reports that are sent more than once a week.
 * @throws LeadsheetError usage_invalid if no report is sent so often
 */
function onlyFrequent(config: Config, names: readonly string[]): readonly string[] {
  const { weekStarts } = config
  const frequent = schedulesOf(config).flatMap(({ report, timing }) =>
    report !== null && areMoreThanWeekly(listDueTimes(timing, new Date()), { ...timing, weekStarts })
      ? report.name
      : [],
  )
  const found = names.filter((name) => frequent.includes(name))
  if (found.length > 0) return found
  throw new LeadsheetError(
    'usage_invalid',
    `${names.join(' and ')} is already sent no more than once a week`,
    {
      hint: `${shellCommand('schedule')} lists when each report is sent.`,
    },
  )
}

function changedJson({ preference, withdrawn }: ChangedPreference) {
  const { address, report, state, cadence, changedAt, changedBy, reason } = preference
  return {
    address,
    report,
    state,
    cadence,
    changed_at: changedAt,
    changed_by: changedBy,
    reason,
    mails_withdrawn: withdrawn,
  }
}

function defineLinks(parent: Command, terminal: Terminal): void {
  const link = parent
    .command('link')
    .description('print the link to the preferences page of a recipient')
    .argument('<address>', 'address of the recipient')
    .option('--report <name>', 'only this report (default: all reports that the recipient gets)')
    .action((address: string, { report }: { report?: string }) => printLinks(terminal, address, report))
  addExamples(link, ['recipients link dana@example.com', 'recipients link dana@example.com --report daily'])
  const revoke = parent
    .command('revoke-links')
    .description('revoke all preference links that were ever sent')
    .option('--yes', 'revoke the links; without it nothing is changed')
    .action(({ yes }: { yes?: boolean }) => revokeLinks(terminal, yes === true))
  addExamples(revoke, ['recipients revoke-links --yes'])
}

/** @throws LeadsheetError config_missing, usage_invalid */
async function printLinks(terminal: Terminal, address: string, report: string | undefined): Promise<void> {
  const config = await terminal.config()
  await using store = await openData(config)
  const linkOf = await preferenceLinks(config, store)
  if (linkOf === null) {
    throw new LeadsheetError(
      'config_missing',
      'web.public_url is not set, so recipients have no preferences page',
      {
        hint: `Set web.public_url, or change the preference here: ${shellCommand('recipients unsubscribe ADDRESS')}.`,
      },
    )
  }
  const lines = (await reportsOf(store, config, address, report)).map((name) => ({
    address,
    report: name,
    url: linkOf({ address, report: name }),
  }))
  if (terminal.json) return terminal.printJson(lines)
  for (const { report: name, url } of lines) terminal.print(`${name}  ${url}`)
  terminal.note('Anybody with this link can change what the recipient gets.')
}

/**
 * Replaces the key that signs links. All links in mails that were sent so far then become invalid.
 * @throws LeadsheetError job_busy while a daemon runs, because the daemon would go on with the old key
 */
async function revokeLinks(terminal: Terminal, isMeant: boolean): Promise<void> {
  await using store = await openData(await terminal.config())
  if (!isMeant) {
    terminal.note(
      `Nothing was changed. ${shellCommand('recipients revoke-links --yes')} revokes the links in all mails sent so far.`,
    )
  } else {
    const now = () => new Date()
    const lease = await claimLease(store, 'daemon', now)
    const worker = (await listHeldLeases(store.db, now())).find(({ name }) => name.startsWith('daemon:'))
    if (worker !== undefined) {
      await lease.release()
      throw new LeadsheetError(
        'job_busy',
        `A daemon is already running: process ${worker.pid} on ${worker.host}`,
        { hint: 'Stop all workers first, because they keep signing messages with the old key.' },
      )
    }
    await replaceLinkKey(store, now())
    await lease.release()
    terminal.note('The links in all mails sent so far are revoked; new mails have new links.')
  }
  if (terminal.json) terminal.printJson({ revoked: isMeant })
}
