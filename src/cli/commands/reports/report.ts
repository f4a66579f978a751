/** `leadsheet report`: makes the issue of a period; looks at it by default, sends it only when told to. */

import { type Command, InvalidArgumentError } from 'commander'
import { deliveryPolicyOf, dkimOf, openMail } from '../../../app/configured-mail.ts'
import {
  findReader,
  findReport,
  openMailing,
  openTemplatesOf,
  reportOf,
} from '../../../app/configured-reports.ts'
import { openDataOrEmpty } from '../../../app/installation.ts'
import { type ReadyMail, requireMail } from '../../../config/requirements.ts'
import { localeFault } from '../../../config/rules.ts'
import { LeadsheetError, shellCommand } from '../../../errors.ts'
import { writeArchiveIndex } from '../../../jobs/archive/archive-index.ts'
import { messageFor } from '../../../jobs/outbox/message.ts'
import { deliverIssues, sendTest } from '../../../jobs/outbox/send-due.ts'
import { pauseRefused } from '../../../jobs/recipients/change-preference.ts'
import { enqueueReportNow, type MailingDeps } from '../../../jobs/reports/enqueue-report.ts'
import { requireGoodData } from '../../../jobs/reports/freshness-gate.ts'
import { contentsOfNow, findPeriod, makeIssue } from '../../../jobs/reports/make-issue.ts'
import { reportAs } from '../../../jobs/reports/preferences.ts'
import { tryReport, withoutPage } from '../../../jobs/reports/preview.ts'
import { contentsOf } from '../../../jobs/reports/report-content.ts'
import type { Reader, Recipient, Report } from '../../../jobs/reports/report-definition.ts'
import { addExamples, instant, wholeNumber } from '../../command.ts'
import type { Terminal } from '../../terminal/terminal.ts'
import { publishAfterwards } from '../analysis/snapshot.ts'
import { runKept } from './report-kept.ts'
import { defineReportNew } from './report-new.ts'
import { previewKind, printMailings, writePreview } from './report-output.ts'

interface Options {
  readonly at?: string
  readonly preview?: string
  readonly for?: string
  readonly locale?: string
  readonly send?: boolean
  readonly force?: boolean
  readonly testTo?: string
  readonly diff?: boolean
  readonly asKnown?: boolean
  readonly asSent?: boolean
  readonly watch?: boolean
  readonly port: number
}

export function defineReport(command: Command, terminal: Terminal): void {
  command
    .argument('<name>', 'report, as named in the settings, or a folder of templates')
    .option('--at <time>', 'as if made then: the report covers the last whole period (default: now)', instant)
    .option('--for <address>', 'as this recipient gets it')
    .option('--locale <locale>', 'in another language, or with other numbers and dates: de-DE', locale)
    .option('--preview <file>', 'write it to a file: .html, .txt or .eml')
    .option('--send', 'send it to its recipients; who has had it gets it no second time')
    .option('--force', 'with --send: also where the settings hold it, since its data are old or odd')
    .option('--test-to <address>', 'send a test to this address alone: no recipient gets it, none has had it')
    .option('--diff', 'compare the figures of the issue that is kept with those of now')
    .option('--as-known', 'with --diff: with those by what was known when it was made')
    .option('--as-sent', 'who has a message of the issue; with --for or --preview one of them as it went out')
    .option('--watch', 'show it in the browser, and again whenever one of its files changes')
    .option(
      '--port <number>',
      'with --watch: where, on 127.0.0.1; 0 takes a free one',
      wholeNumber(0, 65_535),
      8025,
    )
    .action((name: string, options: Options) => act(terminal, name, options))
  addExamples(command, [
    'report daily',
    'report daily --preview daily.html',
    'report daily --for dana@example.com --locale de-DE --preview daily.eml',
    'report daily --at 2026-11-20T07:00:00Z',
    'report daily --test-to me@example.com',
    'report daily --send',
    'report daily --at 2026-11-20T07:00:00Z --diff',
    'report daily --at 2026-11-20T07:00:00Z --as-sent --preview sent.eml',
    'report daily --watch',
  ])
  defineReportNew(command.command('new'), terminal)
}

async function act(terminal: Terminal, name: string, options: Options): Promise<void> {
  if (options.diff || options.asSent || options.asKnown) return runKept(terminal, name, options)
  if (!options.watch) return runReport(terminal, name, options)
  const { watchReport } = await import('./report-watch.ts')
  return watchReport(terminal, name, options.port)
}

async function runReport(terminal: Terminal, name: string, options: Options): Promise<void> {
  refuseWithSend(options)
  const config = await terminal.config()
  const settings = findReport(config, name)
  const mail = options.send || options.testTo !== undefined ? requireMail(config) : null
  if (options.send && settings.recipients.length === 0) {
    throw new LeadsheetError('config_missing', `The report ${name} has no recipients`, {
      hint: config.reports.includes(settings)
        ? 'Set recipients (LEADSHEET_RECIPIENTS), or `recipients` of the report.'
        : 'Add it to `reports` in the settings; until then nobody gets it.',
    })
  }
  const kind = options.preview === undefined ? null : previewKind(options.preview)
  const at = instantIn(options)
  const templates = await openTemplatesOf(config, [settings.template])
  const { report: usual, recipients } = reportOf(settings, config, templates)
  const reader = readerIn(options, usual, recipients)
  await using store = await openDataOrEmpty(config)
  const deps = await openMailing(config, store, templates)
  // Before the first letter, since one recipient may have blocks that another has not.
  await tryReport({ ...deps, place: store.place }, usual, recipients, terminal.signal)
  if (options.send && !options.force) await requireGoodData(deps, usual, recipients, at)
  if (mail !== null && options.send) return await sendReport(terminal, deps, mail, usual, recipients, at)

  const report = await reportAs(store, usual, options.for ?? null)
  const period = await findPeriod(store, report, at, reader)
  const { issue, page } = await makeIssue(deps, report, period, [reader], terminal.signal)
  await writeArchiveIndex(deps.archive, store.db)
  const { preview = null } = options
  const somebody = kind === '.eml' ? (recipients[0]?.address ?? deps.sender.from) : null
  const to = options.testTo ?? options.for ?? somebody
  const sender = options.testTo === undefined ? deps.sender : withoutPage(deps.sender)
  // What stands in the archive was sent; who tries the report wants what it would say now.
  const isTried = kind !== null || mail !== null
  const contents = isTried
    ? contentsOfNow({ ...deps, sender }, report, issue, [reader], terminal.signal)
    : contentsOf({ ...deps, sender }, report, issue)
  const content = await (await contents)(reader, to)
  if (isTried && issue.isMailed) {
    const sent = shellCommand(`report ${report.name} --as-sent --preview sent.html`)
    terminal.note(
      `This one is made from the data of now. The one that was sent on ${issue.renderedAt.slice(0, 10)} stays as it is: ${sent}`,
    )
  }
  const revision = options.testTo === undefined ? 0 : deps.now().getTime()
  const message = messageFor(store, issue, addressee(to, recipients), content, sender, revision)
  if (kind !== null && preview !== null) await writePreview(preview, kind, message, dkimOf(config.mail))

  const { notSent } = issue
  const { failed } = issue.figures
  const mailings = [{ issue: { ...issue, subject: content.subject }, page, notSent, messages: 0, failed }]
  if (mail === null)
    return await printMailings(terminal, report, { mailings, preview, deliveries: null, leftOut: [] })
  await using transport = openMail(mail, await terminal.log())
  const response = await sendTest({ transport }, message, terminal.signal)
  const test = { recipient: message.to, state: 'sent' as const, response, isNew: true }
  await printMailings(terminal, report, { mailings, preview, deliveries: [test], leftOut: [] })
}

async function sendReport(
  terminal: Terminal,
  deps: MailingDeps,
  mail: ReadyMail,
  report: Report,
  recipients: readonly Recipient[],
  at: Date,
): Promise<void> {
  const { mailings, leftOut, archiveFault } = await enqueueReportNow(
    deps,
    report,
    recipients,
    at,
    terminal.signal,
  )
  const log = await terminal.log()
  await using transport = openMail(mail, log)
  const issues = mailings.map(({ issue }) => issue)
  const deliveries = await deliverIssues(
    { ...deps, transport, log, policy: deliveryPolicyOf(mail, deps.store, transport) },
    issues,
    terminal.signal,
  )
  await pauseRefused({ ...deps, log, pauseAfter: mail.pauseAfter })
  if (archiveFault === null) await writeArchiveIndex(deps.archive, deps.store.db)
  await printMailings(terminal, report, { mailings, preview: null, deliveries, leftOut })
  await publishAfterwards(terminal, deps.store)
  // Only now: the messages are out, and no daemon would send them later.
  if (archiveFault !== null) throw archiveFault
  if (deliveries.some((one) => one.state !== 'sent' && one.state !== 'withdrawn')) {
    terminal.end(deliveries.some((one) => one.state === 'sent') ? 'partly' : 'failed')
  }
}

function refuseWithSend({ send, force, testTo, for: reader, locale, preview }: Options): void {
  const [other] = Object.entries({ 'test-to': testTo, for: reader, locale, preview }).filter(
    ([, value]) => value !== undefined,
  )
  if (force && !send) {
    throw new LeadsheetError('usage_invalid', '--force goes with --send', {
      hint: 'A report that is only looked at is made whatever its data are like.',
    })
  }
  if (!send || other === undefined) return
  throw new LeadsheetError('usage_invalid', `--send and --${other[0]} cannot be given together`, {
    hint: '--send reaches all recipients, each with what the settings give them; without it one looks, or sends a test.',
  })
}

function instantIn({ at }: Options): Date {
  const now = new Date()
  if (at === undefined || new Date(at) <= now) return at === undefined ? now : new Date(at)
  throw new LeadsheetError('usage_invalid', `--at ${at} is still to come`, {
    hint: 'The report covers the last whole period before that time, which must be over.',
  })
}

/** Nobody has a message that is only looked at. */
function addressee(address: string | null, recipients: readonly Recipient[]) {
  return recipients.find((one) => one.address === address) ?? { address: address ?? '', name: null }
}

/** Whose eyes the report is looked at with. */
function readerIn(options: Options, report: Report, recipients: readonly Recipient[]): Reader {
  const { for: address = null, locale } = options
  const reader = findReader(report, recipients, address)
  return locale === undefined ? reader : { ...reader, locale }
}

function locale(value: string): string {
  const fault = localeFault(value)
  if (fault !== null) throw new InvalidArgumentError(`Expected a locale such as en-GB or de-DE; ${fault}.`)
  return new Intl.Locale(value).toString()
}
