/**
 * `leadsheet outbox`: shows the state of each message, the answer of the mail server and the next try. With
 * `resolve`, a person records whether an unconfirmed message was delivered or lost, or cancels waiting messages.
 */

import { type Command, Option } from 'commander'
import { openBounces } from '../../../app/configured-bounces.ts'
import { deliveryPolicyOf, openMail } from '../../../app/configured-mail.ts'
import { openReportDeps, openTemplatesOf } from '../../../app/configured-reports.ts'
import { openDataIfThere, openDataToRead } from '../../../app/installation.ts'
import { isDaemonAlive } from '../../../checks/check.ts'
import { outageProblem, REFUSED_IN_ROW } from '../../../checks/mail.ts'
import type { Period } from '../../../domain/model.ts'
import { inSnakeCase } from '../../../domain/names.ts'
import { formatDates, localDates } from '../../../domain/period.ts'
import { LeadsheetError, shellCommand } from '../../../errors.ts'
import { readBounces } from '../../../jobs/outbox/read-bounces.ts'
import { deliverDue } from '../../../jobs/outbox/send-due.ts'
import { counted } from '../../../report/words/numbers.ts'
import type { Trx } from '../../../store/db/store.ts'
import type { DeliveryRowState } from '../../../store/outbox/delivery.ts'
import { findDeliveries, type ListedDelivery, listRefusing } from '../../../store/outbox/delivery-problems.ts'
import { cancelMessage, resolveMessage } from '../../../store/outbox/message-resolve.ts'
import { listMailOutages, type MailOutage, nextTry } from '../../../store/outbox/send-limits.ts'
import { addExamples, day, instant, showing, wholeNumber } from '../../command.ts'
import { formatInstant, type Paragraph, table } from '../../terminal/table.ts'
import type { Result, Terminal } from '../../terminal/terminal.ts'

interface Options {
  readonly report?: string
  readonly since?: string
  readonly state?: keyof typeof STATES
  readonly recipient?: string
  readonly limit: number
}

/** Maps each value of `--state` to the stored states that it selects. */
const STATES = {
  waiting: ['pending', 'sending', 'data'],
  sent: ['sent'],
  failed: ['failed'],
  unconfirmed: ['unconfirmed'],
  withdrawn: ['withdrawn'],
  bounced: ['bounced'],
  complained: ['complained'],
} as const satisfies Record<string, readonly DeliveryRowState[]>

const LIMIT_DEFAULT = 50

export function defineOutbox(command: Command, terminal: Terminal): void {
  const list = command
    .command('list', { isDefault: true })
    .description('list messages with their state and the answer of the mail server (same as `outbox`)')
    .option('--report <name>', 'only messages of this report')
    .option('--recipient <address>', 'only messages to this address')
    .addOption(new Option('--state <state>', 'only messages in this state').choices(Object.keys(STATES)))
    .option('--since <time>', 'only messages written since this day or time', instant)
    .option(
      '--limit <number>',
      'most messages to list, newest first',
      wholeNumber(1, 1_000_000),
      LIMIT_DEFAULT,
    )
    .action(showing(terminal, listMessages))
  addExamples(list, [
    'outbox list',
    'outbox list --report daily --state failed',
    'outbox list --recipient dana@example.com --since 2026-11-01 --json',
  ])
  defineBounces(command, terminal)
  defineResolve(command, terminal)
}

async function listMessages(terminal: Terminal, options: Options): Promise<Result> {
  const { report, since, state, recipient, limit } = options
  await using store = await openDataToRead(await terminal.dataConfig())
  const question = {
    ...(report !== undefined && { report }),
    ...(since !== undefined && { since }),
    ...(recipient !== undefined && { recipient }),
    ...(state !== undefined && { states: STATES[state] }),
  }
  const deliveries = await findDeliveries(store.db, question, limit)
  const outages = await listMailOutages(store.db)
  const refusing = await listRefusing(store.db, REFUSED_IN_ROW)
  const isAlive = await isDaemonAlive(store.db, new Date())
  return {
    data: deliveries.map((one) => deliveryJson(one, outages)),
    meta: {
      servers_away: outages.map(outageJson),
      refusing: refusing.map(({ issues, ...one }) => ({ ...one, issues_in_a_row: issues })),
    },
    text: [deliveriesTable(deliveries, isAlive ? outages : null)],
    notes: [
      ...(deliveries.length === 0 ? ['No messages found.'] : []),
      ...outages.map((one) => outageText(one, isAlive)),
      ...refusing.map(
        (one) =>
          `${one.recipient} refused or returned the last ${one.issues} issues of ${one.report}: ${one.response}`,
      ),
    ],
  }
}

/** @param outages null if no daemon is running, which would try the messages */
function deliveriesTable(
  deliveries: readonly ListedDelivery[],
  outages: readonly MailOutage[] | null,
): Paragraph {
  return table(deliveries, [
    { title: 'RECIPIENT', value: ({ recipient }) => recipient },
    { title: 'REPORT', value: ({ report }) => report ?? 'alert' },
    { title: 'PERIOD', value: ({ period }) => period && formatDates(period) },
    { title: 'STATE', value: stateText },
    { title: 'TRIES', value: ({ attempts }) => attempts },
    { title: 'SINCE', value: ({ stateAt }) => formatInstant(stateAt) },
    { title: 'NEXT', value: (one) => outages && formatInstant(nextTry(one.nextAttemptAt, outages)) },
    { title: 'ANSWER', value: ({ response }) => response },
  ])
}

/** Formats an outage: `smtp://mail.example.com:587 cannot be reached, tried 4 times since …, next tried …: 421 busy`. */
export function outageText(outage: MailOutage, isAlive: boolean): string {
  const { server, beganAt, failures, nextAttemptAt, response } = outage
  const tried = `tried ${counted(failures, 'time')} since ${formatInstant(beganAt)}`
  const next = isAlive ? `next tried ${formatInstant(nextAttemptAt)}` : 'and no daemon runs that tries again'
  return `${server} ${outageProblem(outage)}, ${tried}, ${next}: ${response}`
}

/**
 * Formats the state of a message. `sent (again)` means that this mail repeats an earlier mail of the same
 * issue. `sent, perhaps twice` means that an earlier try may have arrived too. `sent (unsubscribed)` means that it
 * confirms that its recipient has unsubscribed.
 */
function stateText({ state, revision, unconfirmedCount, replyCode }: ListedDelivery): string {
  const isPerhapsTwice = state === 'sent' && unconfirmedCount > 0 && replyCode !== null
  const kind = revision > 0 ? ' (again)' : revision < 0 ? ' (unsubscribed)' : ''
  return `${wordOf(state)}${kind}${isPerhapsTwice ? ', perhaps twice' : ''}`
}

function defineBounces(parent: Command, terminal: Terminal): void {
  const command = parent
    .command('bounces')
    .description('read the mailbox of bounces now, as a running daemon does every five minutes')
    .action(showing(terminal, readBouncesNow))
  addExamples(command, ['outbox bounces', 'outbox bounces --json'])
}

/** @throws LeadsheetError config_missing, mail_unreachable, job_busy */
async function readBouncesNow(terminal: Terminal): Promise<Result> {
  const config = await terminal.config()
  const log = await terminal.log()
  const templates = await openTemplatesOf(config)
  await using store = await openDataIfThere(config)
  const deps = await openReportDeps(config, store, templates)
  const bounces = openBounces(config, { ...deps, log }, templates)
  if (bounces === null) {
    throw new LeadsheetError('config_missing', 'mail.bounces.url is not set', {
      hint: 'Set it to the mailbox in which bounces arrive, such as imaps://reports%40example.com@imap.example.com (LEADSHEET_MAIL_BOUNCES_URL).',
    })
  }
  const { mailbox, messages, notifications } = await readBounces(bounces, terminal.signal)
  // The message that confirms an unsubscribe waits to be sent.
  if (notifications.some(({ kind }) => kind === 'unsubscribe') && config.mail.url !== null) {
    await using transport = openMail(config, log)
    await deliverDue({ ...deps, transport, log, policy: deliveryPolicyOf(config) }, terminal.signal)
  }
  const found = notifications.filter(({ outcome }) => outcome !== 'unmatched')
  return {
    data: notifications.map(inSnakeCase),
    meta: { mailbox, messages },
    text: [
      table(notifications, [
        { title: 'RECIPIENT', value: ({ recipient }) => recipient },
        {
          title: 'REPORT',
          value: ({ report, outcome }) => (outcome === 'unmatched' ? '?' : (report ?? 'alert')),
        },
        { title: 'SAYS', value: ({ kind }) => kind },
        { title: 'CHANGED', value: ({ outcome }) => (outcome === 'applied' ? 'yes' : 'no') },
        { title: 'WORDS', value: ({ said }) => said },
      ]),
    ],
    notes: [
      `${counted(messages, 'new message')} in ${mailbox}: ${found.length} about messages of leadsheet, ${notifications.length - found.length} about none that is known, ${messages - notifications.length} others.`,
    ],
  }
}

export function periodJson({ from, to, timeZone }: Period) {
  return { from, to, time_zone: timeZone }
}

const STATE_WORDS = new Map([
  ['pending', 'waiting'],
  ['data', 'sending'],
])

/** Returns the displayed word for a stored state. */
export function wordOf(state: string): string {
  return STATE_WORDS.get(state) ?? state
}

function deliveryJson(
  {
    issueId: _issueId,
    deferredAt: _deferredAt,
    sender: _sender,
    alike: _alike,
    isRefusal,
    ...one
  }: ListedDelivery,
  outages: readonly MailOutage[],
) {
  return {
    ...inSnakeCase({ ...one, isRefusal: isRefusal === 1 }),
    period: one.period && periodJson(one.period),
    next_attempt_at: nextTry(one.nextAttemptAt, outages),
  }
}

export function outageJson({ beganAt, ...outage }: MailOutage) {
  return { ...inSnakeCase(outage), since: beganAt }
}

/** The outcomes that a person can give to messages, and the stored states of the messages that can have them. */
const OUTCOMES = {
  delivered: ['unconfirmed'],
  lost: ['unconfirmed'],
  cancelled: ['pending', 'unconfirmed'],
} as const satisfies Record<string, readonly DeliveryRowState[]>
type Outcome = keyof typeof OUTCOMES

interface ResolveOptions extends Pick<Options, 'report' | 'recipient'> {
  readonly as: Outcome
  readonly period?: string
  readonly yes?: boolean
}

function defineResolve(parent: Command, terminal: Terminal): void {
  const command = parent
    .command('resolve')
    .description('resolve unconfirmed messages as delivered or lost, or cancel waiting messages')
    .argument('[message-id]', 'id of the message, as in `outbox list --json`')
    .addOption(
      new Option(
        '--as <outcome>',
        `what became of an unconfirmed message: delivered, or lost, so that ${shellCommand('report resend')} sends it again; or cancelled, for a waiting message`,
      )
        .choices(Object.keys(OUTCOMES))
        .makeOptionMandatory(),
    )
    .option('--report <name>', 'messages of this report')
    .option('--period <day>', 'messages of the issue whose period begins on this day', day)
    .option('--recipient <address>', 'messages to this address')
    .option('--yes', 'change the messages; without it they are only listed')
    .action(showing(terminal, resolveMessages))
  addExamples(command, [
    'outbox resolve --report daily --recipient dana@example.com --as delivered --yes',
    'outbox resolve --report daily --as cancelled',
    "outbox resolve '<k3m9@example.com>' --as cancelled --yes",
  ])
}

/** @throws LeadsheetError usage_invalid, report_not_kept */
async function resolveMessages(
  terminal: Terminal,
  id: string | undefined,
  { as: outcome, report, period, recipient, yes = false }: ResolveOptions,
): Promise<Result> {
  if ((id ?? report ?? period ?? recipient) === undefined) {
    throw new LeadsheetError('usage_invalid', 'outbox resolve: which messages are meant is missing', {
      hint: 'Give the id of a message, or --report, --period or --recipient.',
    })
  }
  await using store = await openDataIfThere(await terminal.config())
  const question = {
    states: OUTCOMES[outcome],
    ...(report !== undefined && { report }),
    ...(recipient !== undefined && { recipient }),
  }
  const found = (await findDeliveries(store.db, question, Number.MAX_SAFE_INTEGER)).filter(
    (one) =>
      (outcome !== 'cancelled' || one.nextAttemptAt !== null) &&
      (id === undefined || bareId(one.messageId) === bareId(id)) &&
      (period === undefined || (one.period !== null && localDates(one.period).slice(0, 10) === period)),
  )
  const state = outcome === 'cancelled' ? 'waiting' : 'unconfirmed'
  if (found.length === 0) {
    throw new LeadsheetError('report_not_kept', `no such message is ${state}`, {
      hint: `${shellCommand(`outbox list --state ${state}`)} lists those that are.`,
    })
  }
  const at = new Date().toISOString()
  const messages = yes
    ? await store.write(async (trx) => {
        const changed: ListedDelivery[] = []
        for (const one of found) if (await giveOutcome(trx, one.messageId, outcome, at)) changed.push(one)
        return changed
      })
    : found
  if (!yes) terminal.end('usage')
  const count = counted(messages.length, 'message')
  return {
    data: { resolved: yes, as: outcome, messages: messages.map(keyJson) },
    text: [
      yes ? messages.map((one) => `${nameOf(one)}: ${outcome}`).join('\n') : deliveriesTable(messages, null),
    ],
    notes: [yes ? `${count} ${outcome}.` : `Nothing was changed. With --yes: ${count} ${outcome}.`],
  }
}

function giveOutcome(trx: Trx, messageId: string, outcome: Outcome, at: string): Promise<boolean> {
  if (outcome === 'cancelled') return cancelMessage(trx, messageId, at)
  return resolveMessage(trx, messageId, outcome === 'lost' ? 'lost' : 'arrived', at)
}

/** Names a message: `daily, 2026-11-20, to dana@example.com`. */
function nameOf({ report, period, recipient }: ListedDelivery): string {
  return [report ?? 'alert', period && formatDates(period), `to ${recipient}`].filter(Boolean).join(', ')
}

function keyJson({ messageId, recipient, report, period }: ListedDelivery) {
  return { message_id: messageId, recipient, report, period: period && periodJson(period) }
}

/** Returns a Message-ID without its brackets, which shells and pages leave out. */
function bareId(id: string): string {
  return id.replaceAll(/[<>]/g, '')
}
