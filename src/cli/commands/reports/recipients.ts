/**
 * `leadsheet recipients`: lists which recipient gets which report, the setting that says so, and the
 * recipient's preference. The subcommands change preferences, and print or revoke links.
 */
import { Argument, type Command } from 'commander'
import { preferenceLinks } from '../../../app/configured-mail.ts'
import { findReport } from '../../../app/configured-reports.ts'
import { openData, openDataToRead } from '../../../app/installation.ts'
import { REFUSED_IN_ROW } from '../../../checks/mail.ts'
import type { Config } from '../../../config/config.ts'
import { filterText, type RecipientConfig, type ReportConfig } from '../../../config/report-config.ts'
import { inSnakeCase } from '../../../domain/names.ts'
import { LeadsheetError, shellCommand } from '../../../errors.ts'
import {
  type ChangedPreference,
  changePreference,
  preferenceText,
} from '../../../jobs/reports/preferences.ts'
import type { PreferenceChoice } from '../../../report/preferences/page.ts'
import type { Store } from '../../../store/db/store.ts'
import { listRefusing, type RefusingRecipient } from '../../../store/outbox/delivery-problems.ts'
import { listPreferences, type Preference, replaceLinkKey } from '../../../store/reports/preference.ts'
import { claimLease, listHeldLeases } from '../../../store/schedule/lease.ts'
import { addExamples, showing } from '../../command.ts'
import { table } from '../../terminal/table.ts'
import type { Result, Terminal } from '../../terminal/terminal.ts'

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
    .action(showing(terminal, listRecipients))
  addExamples(list, ['recipients', 'recipients list --report weekly', 'recipients list --json'])
  defineSet(command, terminal)
  defineLink(command, terminal)
}

async function listRecipients(terminal: Terminal, { report: name }: { report?: string }): Promise<Result> {
  const config = await terminal.dataConfig()
  const reports = name === undefined ? config.reports : [findReport(config, name)]
  await using store = await openDataToRead(config)
  const lines = await readLines(store, config, reports, name)
  const none = 'No report has recipients: set recipients (LEADSHEET_RECIPIENTS).'
  return {
    data: lines.map(jsonOf),
    text: [
      table(lines, [
        { title: 'RECIPIENT', value: ({ address }) => address },
        { title: 'NAME', value: ({ recipient }) => recipient?.name },
        { title: 'REPORT', value: ({ report }) => report },
        { title: 'STATE', value: stateOf },
        { title: 'LEADS', value: ({ recipient }) => recipient && (filterText(recipient.filter) ?? 'all') },
        { title: 'LOCALE', value: ({ recipient }) => recipient?.locale },
        { title: 'TIME ZONE', value: ({ recipient }) => recipient?.timeZone },
        { title: 'BLOCKS', value: ({ recipient }) => recipient && blocksText(recipient) },
        {
          title: 'ATTACHMENTS',
          value: ({ recipient }) => recipient?.attachments.join(', '),
        },
        { title: 'FROM', value: ({ from }) => from },
      ]),
    ],
    notes: lines.length === 0 ? [none] : [],
  }
}

function blocksText({ blocks }: RecipientConfig): string {
  return blocks?.join(', ') ?? 'as in its folder'
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
  return {
    ...rest,
    ...line,
    ...(timeZone === undefined ? {} : { time_zone: timeZone }),
    ...(filter && { filter: { pipeline_ids: filter.pipelineIds, conditions: filter.conditions } }),
    in_settings: recipient !== null,
    state: preference?.state ?? 'active',
    changed_at: preference?.changedAt ?? null,
    changed_by: preference?.changedBy ?? null,
    reason: preference?.reason ?? null,
    refused_in_a_row: refusing?.issues ?? 0,
  }
}

/** The preferences as `recipients list` shows them. */
const CHOICES: Readonly<Record<string, PreferenceChoice>> = {
  active: 'start',
  paused: 'pause',
  unsubscribed: 'stop',
}

interface Options {
  readonly all?: boolean
  readonly report?: string
  readonly reason?: string
}

function defineSet(parent: Command, terminal: Terminal): void {
  const command = parent
    .command('set')
    .description('set what a recipient gets: pause, resume or unsubscribe them')
    .addArgument(
      new Argument(
        '<preference>',
        'active; paused; unsubscribed; the last two also withdraw waiting mails',
      ).choices(Object.keys(CHOICES)),
    )
    .argument('[address]', 'address of the recipient')
    .option('--all', 'with active: all recipients whom leadsheet paused')
    .option('--report <name>', 'only this report (default: all reports that the recipient gets)')
    .option('--reason <text>', `reason to show in ${shellCommand('recipients')}`)
    .action(showing(terminal, setPreference))
  addExamples(command, [
    'recipients set paused dana@example.com --reason "on leave"',
    'recipients set active --all',
  ])
}

async function setPreference(
  terminal: Terminal,
  preference: string,
  address: string | undefined,
  options: Options,
): Promise<Result> {
  const choice = CHOICES[preference] ?? 'start'
  const config = await terminal.config()
  await using store = await openData(config)
  const by = { by: 'operator', reason: options.reason ?? null } as const
  const changed: ChangedPreference[] = []
  for (const key of await keysToChange(store, config, address, preference, options))
    changed.push(await changePreference(store, key, choice, by, new Date()))
  return {
    data: changed.map(({ preference, withdrawn }) => ({
      ...inSnakeCase(preference),
      mails_withdrawn: withdrawn,
    })),
    text: [
      table(changed, [
        { title: 'RECIPIENT', value: ({ preference }) => preference.address },
        { title: 'REPORT', value: ({ preference }) => preference.report },
        { title: 'STATE', value: ({ preference }) => preferenceText(preference) },
        { title: 'MAILS WITHDRAWN', value: ({ withdrawn }) => withdrawn },
      ]),
    ],
    notes: changed.length === 0 ? ['leadsheet has paused nobody.'] : [],
  }
}

/** @throws LeadsheetError usage_invalid if neither or both of an address and `--all` are given */
async function keysToChange(
  store: Store,
  config: Config,
  address: string | undefined,
  preference: string,
  { all = false, report: name }: Options,
): Promise<{ readonly address: string; readonly report: string }[]> {
  if (all === (address !== undefined) || (all && preference !== 'active')) {
    throw new LeadsheetError('usage_invalid', 'recipients set: expected an address, or active with --all', {
      hint: `Write ${shellCommand(`recipients set ${preference} dana@example.com`)}, or ${shellCommand('recipients set active --all')} for all whom leadsheet paused.`,
    })
  }
  if (address === undefined) {
    return (await listPreferences(store.db, name)).filter(
      ({ state, changedBy }) => state === 'paused' && changedBy === 'leadsheet',
    )
  }
  const theirs = await reportsOf(store, config, address, name)
  return theirs.map((report) => ({ address, report }))
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

function defineLink(parent: Command, terminal: Terminal): void {
  const command = parent
    .command('link')
    .description('print the link to the preferences page of a recipient, or revoke all links')
    .argument('[address]', 'address of the recipient')
    .option('--report <name>', 'only this report (default: all reports that the recipient gets)')
    .option('--revoke', 'revoke the links in all mails that were ever sent; without an address')
    .option('--yes', 'with --revoke: revoke the links; without it nothing is changed')
    .action(showing(terminal, linkOrRevoke))
  addExamples(command, [
    'recipients link dana@example.com',
    'recipients link dana@example.com --report daily',
    'recipients link --revoke --yes',
  ])
}

/** @throws LeadsheetError usage_invalid unless either an address or `--revoke` is given */
function linkOrRevoke(
  terminal: Terminal,
  address: string | undefined,
  { report, revoke = false, yes = false }: { report?: string; revoke?: boolean; yes?: boolean },
): Promise<Result> {
  if (address !== undefined && !revoke) return findLinks(terminal, address, report)
  if (address === undefined && revoke && report === undefined) return revokeLinks(terminal, yes)
  throw new LeadsheetError('usage_invalid', 'recipients link: expected an address, or --revoke alone', {
    hint: `Write ${shellCommand('recipients link dana@example.com')}.`,
  })
}

/** @throws LeadsheetError config_missing, usage_invalid */
async function findLinks(terminal: Terminal, address: string, report: string | undefined): Promise<Result> {
  const config = await terminal.config()
  await using store = await openData(config)
  const linkOf = await preferenceLinks(config, store)
  if (linkOf === null) {
    throw new LeadsheetError(
      'config_missing',
      'web.public_url is not set, so recipients have no preferences page',
      {
        hint: `Set web.public_url, or change the preference here: ${shellCommand('recipients set unsubscribed ADDRESS')}.`,
      },
    )
  }
  const links = (await reportsOf(store, config, address, report)).map((name) => ({
    address,
    report: name,
    url: linkOf({ address, report: name }),
  }))
  return {
    data: links,
    text: [links.map(({ report: name, url }) => `${name}  ${url}`).join('\n')],
    notes: ['Anybody with this link can change what the recipient gets.'],
  }
}

/**
 * Replaces the key that signs links. All links in mails that were sent so far then become invalid.
 * @throws LeadsheetError job_busy while a daemon runs, because the daemon would go on with the old key
 */
async function revokeLinks(terminal: Terminal, isMeant: boolean): Promise<Result> {
  await using store = await openData(await terminal.config())
  const data = { revoked: isMeant }
  if (!isMeant) {
    const how = shellCommand('recipients link --revoke --yes')
    return { data, notes: [`Nothing was changed. ${how} revokes the links in all mails sent so far.`] }
  }
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
  return { data, notes: ['The links in all mails sent so far are revoked; new mails have new links.'] }
}
