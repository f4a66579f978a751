/**
 * `leadsheet report resend`: sends mails of a report again, either unchanged to those who did not get them,
 * or as new mails.
 */
import { type Command, Option } from 'commander'
import { deliveryPolicyOf, openMail } from '../../../app/configured-mail.ts'
import {
  findAudience,
  findReport,
  openReportDeps,
  openTemplatesOf,
  reportOf,
} from '../../../app/configured-reports.ts'
import { openDataIfThere } from '../../../app/installation.ts'
import { requireMail } from '../../../config/config.ts'
import { formatDates } from '../../../domain/period.ts'
import { LeadsheetError, shellCommand } from '../../../errors.ts'
import { type DeliverySummary, deliverIssues } from '../../../jobs/outbox/send-due.ts'
import {
  enqueueResend,
  planResend,
  type ResendChoice,
  type ResendPlan,
} from '../../../jobs/reports/resend.ts'
import { addExamples, instant, showing } from '../../command.ts'
import { table } from '../../terminal/table.ts'
import type { Result, Terminal } from '../../terminal/terminal.ts'
import { periodJson, wordOf } from './outbox.ts'

interface Options {
  readonly at?: string
  readonly failed?: boolean
  readonly unconfirmed?: boolean
  readonly to?: string
  readonly all?: boolean
  readonly reason?: string
  readonly yes?: boolean
}

export function defineResend(parent: Command, terminal: Terminal): void {
  const command = parent
    .command('resend')
    .description('send mails of a report again: those that failed, or new mails to everybody')
    .argument('<name>', 'name of the report')
    .option('--failed', 'send again to recipients whose mail failed, with the same Message-ID')
    .option('--unconfirmed', 'send again to recipients whose mail is unconfirmed, with the same Message-ID')
    .option(
      '--to <address>',
      'send only to this recipient; if they already have the report, as a new mail that says so',
    )
    .option('--all', 'send to all recipients; those who already have the report get a new mail that says so')
    .option('--at <time>', 'resend the last issue whose period ended by this time (default: now)', instant)
    .addOption(
      new Option(
        '--reason <text>',
        "reason to state in new mails, with --all or --to: 'wrong currency in the first one'",
      ).conflicts(['failed', 'unconfirmed']),
    )
    .option(
      '--yes',
      'send even if several recipients, or with --all one, have or may have the mail; without it they are only listed',
    )
    .action(showing(terminal, resend))
  addExamples(command, [
    'report resend daily --failed',
    'report resend daily --to dana@example.com',
    'report resend daily --at 2026-11-20T07:00:00Z --all --reason "wrong currency in the first one" --yes',
  ])
}

async function resend(terminal: Terminal, name: string, options: Options): Promise<Result> {
  const choice = choiceIn(options)
  const config = await terminal.config()
  requireMail(config)
  const settings = findReport(config, name)
  const templates = await openTemplatesOf(config, [settings.template])
  const { report, recipients } = reportOf(settings, config, templates)
  await using store = await openDataIfThere(config)
  const deps = await openReportDeps(config, store, templates)
  const by = options.at === undefined ? deps.now() : new Date(options.at)
  const plan = await planResend(deps, report, recipients, choice, by)
  const count = plan.again.length + plan.anew.length
  if (count + plan.leftOut.length === 0 && choice.which === 'one')
    findAudience(report, recipients, choice.address)
  if (count === 0) return planResult(terminal, plan, choice)
  const mayHaveIt =
    plan.anew.length + plan.again.filter(({ message }) => message.state === 'unconfirmed').length
  if (mayHaveIt > (choice.which === 'all' ? 0 : 1) && !options.yes) return planResult(terminal, plan, null)

  const queued = await enqueueResend(deps, report, plan, options.reason ?? null)
  const issues = new Set([...plan.again, ...plan.anew].map(({ issue }) => issue))
  const log = await terminal.log()
  await using transport = openMail(config, log)
  const delivering = { ...deps, transport, log, policy: deliveryPolicyOf(config) }
  const deliveries = await deliverIssues(delivering, [...issues], terminal.signal, queued)
  return sentResult(terminal, plan, deliveries)
}

/** @throws LeadsheetError usage_invalid unless exactly one choice is given */
function choiceIn({ failed, unconfirmed, to, all }: Options): ResendChoice {
  const given = { failed, unconfirmed, all }
  const choices: ResendChoice[] = [
    ...(['failed', 'unconfirmed', 'all'] as const)
      .filter((which) => given[which])
      .map((which) => ({ which })),
    ...(to === undefined ? [] : [{ which: 'one', address: to } as const]),
  ]
  const [choice] = choices
  if (choice !== undefined && choices.length === 1) return choice
  throw new LeadsheetError('usage_invalid', 'one of --failed, --unconfirmed, --to and --all is required', {
    hint: `${shellCommand('outbox list')} shows the state of each mail.`,
  })
}

/** @param choice the choice that matches no mail; null if the mails of the plan wait for `--yes` */
function planResult(terminal: Terminal, plan: ResendPlan, choice: ResendChoice | null): Result {
  const isDone = plan.leftOut.length === 0 && (choice?.which === 'failed' || choice?.which === 'unconfirmed')
  if (!isDone) terminal.end('usage')
  return {
    data: { sent: false, ...planJson(plan), deliveries: [] },
    text: [
      table(rowsOf(plan), [
        { title: 'RECIPIENT', value: ({ recipient }) => recipient },
        { title: 'PERIOD', value: ({ period }) => period },
        { title: 'STATE', value: ({ state }) => state },
        { title: 'WOULD BE SENT', value: ({ what }) => what },
      ]),
    ],
    notes: [
      choice === null
        ? 'Nothing was sent, because these recipients have or may have the mail. Add --yes to send it.'
        : `Nothing was sent: no mail matches. ${shellCommand('outbox list')} shows the state of each mail.`,
    ],
  }
}

function sentResult(terminal: Terminal, plan: ResendPlan, deliveries: readonly DeliverySummary[]): Result {
  const sent = deliveries.filter(({ state }) => state === 'sent').length
  if (sent < deliveries.length) terminal.end(sent > 0 ? 'partly' : 'failed')
  const outcomes = deliveries.map(({ recipient, state, response }) => ({ recipient, state, response }))
  return {
    data: { sent: true, ...planJson(plan), deliveries: outcomes },
    text: [
      table(deliveries, [
        { title: 'RECIPIENT', value: ({ recipient }) => recipient },
        { title: 'STATE', value: ({ state }) => wordOf(state) },
        { title: 'ANSWER', value: ({ response }) => response },
      ]),
    ],
    notes: plan.leftOut.map(({ recipient, why }) => `not sent to ${recipient}: ${why}`),
  }
}

function rowsOf({ again, anew, leftOut }: ResendPlan) {
  const row =
    (what: string) =>
    ({ issue, message }: ResendPlan['again'][number]) => ({
      recipient: message.recipient,
      state: wordOf(message.state),
      what,
      period: formatDates(issue.period),
    })
  return [
    ...again.map(row('the same mail')),
    ...anew.map(row('a new mail')),
    ...leftOut.map(({ recipient, why }) => ({
      recipient,
      period: null,
      state: null,
      what: `nothing: ${why}`,
    })),
  ]
}

function planJson({ again, anew, leftOut }: ResendPlan) {
  const of = ({ issue, message }: ResendPlan['again'][number]) => ({
    recipient: message.recipient,
    state: message.state,
    period: periodJson(issue.period),
  })
  return { same_mail: again.map(of), new_mail: anew.map(of), left_out: leftOut }
}
