/**
 * `leadsheet outbox`: shows the state of each message, the answer of the mail server and the next try. With
 * `resolve`, a person records whether an unconfirmed message was delivered or lost, and with `cancel` that a
 * waiting message is not to be sent.
 */

import { type Command, Option } from 'commander'
import { openDataIfThere, openDataToRead } from '../../../app/installation.ts'
import { outageProblem, REFUSED_IN_ROW } from '../../../checks/mail.ts'
import type { Period } from '../../../domain/model.ts'
import { formatDates, localDates } from '../../../domain/period.ts'
import { LeadsheetError, shellCommand } from '../../../errors.ts'
import { counted } from '../../../report/words/numbers.ts'
import type { Store } from '../../../store/db/store.ts'
import type { DeliveryRowState } from '../../../store/outbox/delivery.ts'
import { findDeliveries, type ListedDelivery, listRefusing } from '../../../store/outbox/delivery-problems.ts'
import { cancelMessage, type Finding, resolveMessage } from '../../../store/outbox/message-resolve.ts'
import { listMailOutages, type MailOutage, nextTry } from '../../../store/outbox/send-limits.ts'
import { addExamples, day, instant, wholeNumber } from '../../command.ts'
import { formatInstant } from '../../terminal/table.ts'
import type { Terminal } from '../../terminal/terminal.ts'

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
    .action((options: Options) => listMessages(terminal, options))
  addExamples(list, [
    'outbox list',
    'outbox list --report daily --state failed',
    'outbox list --recipient dana@example.com --since 2026-11-01 --json',
  ])
  defineResolve(command, terminal)
  defineCancel(command, terminal)
}

async function listMessages(terminal: Terminal, options: Options): Promise<void> {
  const { report = null, since = null, state, recipient = null, limit } = options
  await using store = await openDataToRead(await terminal.dataConfig())
  const question = { report, since, recipient, states: state === undefined ? null : STATES[state] }
  const deliveries = await findDeliveries(store.db, question, limit)
  const outages = await listMailOutages(store.db)
  if (terminal.json) {
    const refusing = await listRefusing(store.db, REFUSED_IN_ROW)
    const messages = deliveries.map((one) => deliveryJson(one, outages))
    return terminal.printJson(messages, {
      servers_away: outages.map(outageJson),
      refusing: refusing.map(({ recipient: to, report: of, issues, since: from, response }) => ({
        recipient: to,
        report: of,
        issues_in_a_row: issues,
        since: from,
        response,
      })),
    })
  }
  if (deliveries.length === 0) terminal.note('No messages found.')
  else await printDeliveries(terminal, deliveries, outages)
  await printOutages(terminal, store, outages)
}

function printDeliveries(
  terminal: Terminal,
  deliveries: readonly ListedDelivery[],
  outages: readonly MailOutage[],
): Promise<void> {
  return terminal.printTable<ListedDelivery>(
    [
      { title: 'RECIPIENT', value: ({ recipient }) => recipient, isWhole: true },
      { title: 'REPORT', value: ({ report }) => report ?? 'alert', isWhole: true },
      { title: 'PERIOD', value: ({ period }) => period && formatDates(period), isWhole: true },
      { title: 'STATE', value: stateText, isWhole: true },
      { title: 'TRIES', value: ({ attempts }) => attempts },
      { title: 'SINCE', value: ({ stateAt }) => formatInstant(stateAt), isOptional: true },
      { title: 'NEXT', value: (one) => formatInstant(nextTry(one.nextAttemptAt, outages)), isWhole: true },
      { title: 'ANSWER', value: ({ response }) => response },
    ],
    deliveries,
  )
}

/**
 * Prints outages and refusing recipients below the table, because one outage may explain several messages.
 */
async function printOutages(terminal: Terminal, store: Store, outages: readonly MailOutage[]): Promise<void> {
  for (const outage of outages) terminal.note(outageText(outage))
  for (const { recipient, report, issues, response } of await listRefusing(store.db, REFUSED_IN_ROW)) {
    terminal.note(`${recipient} refused the last ${issues} issues of ${report}: ${response}`)
  }
}

/** Formats an outage: `smtp://mail.example.com:587 cannot be reached since …, next tried …: 421 too busy`. */
export function outageText(outage: MailOutage): string {
  const { server, beganAt, nextAttemptAt, response } = outage
  return `${server} ${outageProblem(outage)} since ${formatInstant(beganAt)}, next tried ${formatInstant(nextAttemptAt)}: ${response}`
}

/**
 * Formats the state of a message. `sent (again)` means that this mail repeats an earlier mail of the same
 * issue. `sent, perhaps twice` means that an earlier try may have arrived too.
 */
function stateText({ state, revision, unconfirmedCount, replyCode }: ListedDelivery): string {
  const isPerhapsTwice = state === 'sent' && unconfirmedCount > 0 && replyCode !== null
  return `${wordOf(state)}${revision === 0 ? '' : ' (again)'}${isPerhapsTwice ? ', perhaps twice' : ''}`
}

const STATE_WORDS = new Map([
  ['pending', 'waiting'],
  ['data', 'sending'],
  ['unconfirmed', 'unconfirmed'],
])

export function periodJson({ from, to, timeZone }: Period) {
  return { from, to, time_zone: timeZone }
}

/** Returns the displayed word for a stored state. */
export function wordOf(state: string): string {
  return STATE_WORDS.get(state) ?? state
}

function deliveryJson(one: ListedDelivery, outages: readonly MailOutage[]) {
  const { period } = one
  return {
    message_id: one.messageId,
    recipient: one.recipient,
    report: one.report,
    period: period && periodJson(period),
    revision: one.revision,
    state: one.state,
    attempts: one.attempts,
    unconfirmed_count: one.unconfirmedCount,
    queued_at: one.queuedAt,
    state_at: one.stateAt,
    next_attempt_at: nextTry(one.nextAttemptAt, outages),
    reply_code: one.replyCode,
    response: one.response,
  }
}

export function outageJson({
  server,
  kind,
  beganAt,
  failures,
  nextAttemptAt,
  replyCode,
  response,
}: MailOutage) {
  return {
    server,
    kind,
    since: beganAt,
    failures,
    next_attempt_at: nextAttemptAt,
    reply_code: replyCode,
    response,
  }
}

interface ResolveOptions {
  readonly delivered?: boolean
  readonly lost?: boolean
}

function defineResolve(parent: Command, terminal: Terminal): void {
  const command = parent
    .command('resolve')
    .description('resolve unconfirmed messages as delivered or lost, after you have checked')
    .argument('<report>', 'name of the report')
    .argument('<address>', 'address of the recipient')
    .option('--delivered', 'the messages were delivered')
    .option('--lost', `the messages were lost; ${shellCommand('report resend')} sends them again`)
    .action((report: string, address: string, options: ResolveOptions) =>
      resolveMessages(terminal, report, address, options),
    )
  addExamples(command, ['outbox resolve daily dana@example.com --delivered'])
}

/** @throws LeadsheetError usage_invalid, report_not_kept */
async function resolveMessages(
  terminal: Terminal,
  report: string,
  address: string,
  { delivered, lost }: ResolveOptions,
): Promise<void> {
  if (delivered === lost) {
    throw new LeadsheetError('usage_invalid', '--delivered or --lost is missing', {
      hint: 'Ask the recipient whether the mail arrived, then give one of the two.',
    })
  }
  const finding: Finding = delivered ? 'arrived' : 'lost'
  await using store = await openDataIfThere(await terminal.config())
  const question = { report, since: null, recipient: address, states: STATES.unconfirmed }
  const messages = await findDeliveries(store.db, question, Number.MAX_SAFE_INTEGER)
  if (messages.length === 0) {
    throw new LeadsheetError('report_not_kept', `no message of ${report} to ${address} is unconfirmed`, {
      hint: `${shellCommand('outbox list --state unconfirmed')} lists the unconfirmed ones.`,
    })
  }
  const at = new Date().toISOString()
  await store.write(async (trx) => {
    for (const { messageId } of messages) await resolveMessage(trx, messageId, finding, at)
  })
  if (terminal.json) {
    const resolved = messages.map(({ messageId, period }) => ({
      message_id: messageId,
      period: period && periodJson(period),
    }))
    return terminal.printJson({
      report,
      recipient: address,
      finding: delivered ? 'delivered' : 'lost',
      resolved,
    })
  }
  for (const { period } of messages) {
    terminal.print(
      `${report}, ${period && formatDates(period)}, to ${address}: ${delivered ? 'sent' : 'failed'}`,
    )
  }
}

interface CancelOptions extends Pick<Options, 'report' | 'recipient'> {
  readonly period?: string
  readonly yes?: boolean
}

function defineCancel(parent: Command, terminal: Terminal): void {
  const command = parent
    .command('cancel')
    .description('cancel waiting messages: one by its id, or all of a report, an issue or a recipient')
    .argument('[message-id]', 'id of the message, as in `outbox list --json`')
    .option('--report <name>', 'waiting messages of this report')
    .option('--period <day>', 'waiting messages of the issue whose period begins on this day', day)
    .option('--recipient <address>', 'waiting messages to this address')
    .option('--yes', 'cancel the messages; without it they are only listed')
    .action((id: string | undefined, options: CancelOptions) => cancelMessages(terminal, id, options))
  addExamples(command, [
    'outbox cancel --recipient dana@example.com',
    'outbox cancel --report daily --yes',
    "outbox cancel '<k3m9@example.com>' --yes",
  ])
}

/** @throws LeadsheetError usage_invalid, report_not_kept */
async function cancelMessages(
  terminal: Terminal,
  id: string | undefined,
  { report, period, recipient, yes = false }: CancelOptions,
): Promise<void> {
  if ((id ?? report ?? period ?? recipient) === undefined) {
    throw new LeadsheetError('usage_invalid', 'outbox cancel: which messages are meant is missing', {
      hint: 'Give the id of a message, or --report, --period or --recipient.',
    })
  }
  await using store = await openDataIfThere(await terminal.config())
  const question = {
    report: report ?? null,
    since: null,
    recipient: recipient ?? null,
    states: ['pending', 'unconfirmed'] as const,
  }
  const waiting = (await findDeliveries(store.db, question, Number.MAX_SAFE_INTEGER)).filter(
    (one) =>
      one.nextAttemptAt !== null &&
      (id === undefined || bareId(one.messageId) === bareId(id)) &&
      (period === undefined || (one.period !== null && localDates(one.period).slice(0, 10) === period)),
  )
  if (waiting.length === 0) {
    throw new LeadsheetError('report_not_kept', 'no such message waits to be sent', {
      hint: `${shellCommand('outbox list --state waiting')} lists those that wait.`,
    })
  }
  const at = new Date().toISOString()
  const cancelled = yes
    ? await store.write(async (trx) => {
        const done: ListedDelivery[] = []
        for (const one of waiting) {
          if (!(await cancelMessage(trx, one.messageId, at))) continue
          const state = one.state === 'pending' ? 'withdrawn' : one.state
          done.push({ ...one, state, nextAttemptAt: null })
        }
        return done
      })
    : []
  if (!yes) terminal.end('usage')
  if (terminal.json) {
    const messages = (yes ? cancelled : waiting).map(
      ({ messageId, recipient: to, report: of, period: about }) => ({
        message_id: messageId,
        recipient: to,
        report: of,
        period: about && periodJson(about),
      }),
    )
    return terminal.printJson({ cancelled: yes, messages })
  }
  await printDeliveries(terminal, yes ? cancelled : waiting, [])
  terminal.note(
    yes
      ? `${counted(cancelled.length, 'message')} cancelled.`
      : `Nothing was cancelled. Add --yes to cancel ${waiting.length === 1 ? 'this message' : `these ${waiting.length} messages`}.`,
  )
}

/** Returns a Message-ID without its brackets, which shells and pages leave out. */
function bareId(id: string): string {
  return id.replaceAll(/[<>]/g, '')
}
